// Input models: graph files and ONNX models.
#pragma once
#include <string>
#include <vector>

#include "driver/compile.h"
#include "flags.h"
#include "frontend/c_sources.h"
#include "frontend/frontend.h"

namespace svod {

/// A graph file read from `path`, or from stdin when it is "-".
Result<GraphFile> readGraph(const std::string& path);

/// A graph file or an ONNX model, by its name; "-" is a graph on stdin. The first error. `notes` get what was chosen
/// because neither the file nor the options do; `sources` the files of C that it takes functions from.
Result<Model> readModel(const std::string& path, const LoadOptions& options, std::vector<Error>& notes,
                        CSources& sources);

/// The files of C that the graph file `path` takes functions from, as the compiler reads them.
CFiles filesOf(const CSources& sources, const std::string& path);
/// Whether they have the functions that the model calls, for the processor of the code that the host runs; this
/// machine's architecture where it is null.
Status checkFunctions(const Model& model, const CFiles& files, const CSources& sources, const CpuTarget* processor,
                      std::set<std::string>* filesRead);

/// Before `runner` runs functions of C files in a process of this user: whether --allow-c lets it. Errors: Usage.
Status checkAllowed(const CompileOptions& options, const Flags& flags, const std::string& runner);

/// What `svodc check` says about a file.
struct Checkup {
  std::vector<Error> errors, notes;
  size_t inputs = 0, outputs = 0;
  std::string unit;  // "statements" or "nodes"
  size_t count = 0;  // of them
};
Result<Checkup> checkModel(const std::string& path, const LoadOptions& options);

}  // namespace svod
