// A graph that is tuned, and the compiles of it.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "driver/compile.h"
#include "search/plan_search.h"
#include "tuning/log_file.h"

namespace svod {

/// A compile of a graph. The compilation borrows from the model.
struct BuiltGraph {
  CompileOptions options;
  Model model;
  std::unique_ptr<Compilation> compilation;
};

struct TuneGraph {
  std::string path, name;               // of its file, as a user gave it, and of the graph
  std::function<Result<Model>()> read;  // anew for every compile: what is compiled grows
  BuiltGraph usual;                     // as -O1 makes it, without a log: what all that is measured is compared with
};

/// The graph as -O1 and the log make it, with these decisions; without those that the log has. `log` is not asked
/// afterwards. Errors: of reading it, and of the compile.
Result<BuiltGraph> buildTuned(const TuneGraph& graph, const Asked& asked, const TuningLog& log);

/// What a user asked for when the graph was compiled.
Asked askedOf(const TuneGraph& graph);

/// Whether code for this processor runs on the one that this process has. Errors: Unsupported.
Status checkRunsHere(const CompileOptions& options);

/// Names the graphs, and the kernels of their baseline plans, in `log` and by `appender` where they are not there yet.
Status recordGraphs(const std::deque<TuneGraph>& graphs, TuningLog& log, LogAppender& appender);

}  // namespace svod
