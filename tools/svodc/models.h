// The files svodc takes as input: graph files and ONNX models.
#pragma once
#include <string>
#include <vector>

#include "frontend/frontend.h"

namespace svod {

/// A graph file or an ONNX model, by its name; "-" is a graph on stdin. The first error. `notes` get what was chosen
/// because neither the file nor the options do.
Result<Model> readModel(const std::string& path, const LoadOptions& options, std::vector<Error>& notes);

/// What `svodc check` says about a file.
struct Checkup {
  std::vector<Error> errors, notes;
  size_t inputs = 0, outputs = 0;
  std::string unit;  // "statements" or "nodes"
  size_t count = 0;  // of them
};
Result<Checkup> checkModel(const std::string& path, const LoadOptions& options);

}  // namespace svod
