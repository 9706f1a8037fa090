// A graph compiled in memory: what compile, inspect and --verify start from.
#pragma once
#include <memory>
#include <set>

#include "cache.h"
#include "console/console.h"
#include "driver/job_server.h"
#include "options.h"
#include "report/report.h"
#include "toolchain/linker.h"
#include "toolchain/temp_dir.h"
#include "tuning/log.h"

namespace svod {

/// Intermediate files of this process; gone at its end and on Ctrl-C.
struct Workplace {
  TempDir directory;
  Linker linker;

  static Result<std::unique_ptr<Workplace>> make(const Request& request);

  explicit Workplace(TempDir made) : directory(std::move(made)), linker(directory.file("")) {}
};

/// The compilation borrows from the model.
struct BuildResult {
  std::shared_ptr<JobServer> jobServer;  // shared with what an interrupt does
  std::unique_ptr<KernelCache> cache;
  std::unique_ptr<TuningLog> tuning;
  CompileOptions options;
  Model model;
  std::set<std::string> filesRead;  // that the plan was made from
  std::unique_ptr<Compilation> compilation;
};

/// With `keepSource` every kernel is compiled anew. `tuning`: a log in place of the one that flags name.
Result<BuildResult> buildGraph(const Request& request, Console& console, Workplace& place, bool keepSource,
                               const TuningLog* tuning = nullptr);

}  // namespace svod
