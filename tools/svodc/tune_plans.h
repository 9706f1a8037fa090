// The decisions about graphs that svodc tune looks for: whole plans, in which only kernels that are new are tuned.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "driver/tuned_plan.h"
#include "search/plan_search.h"
#include "tune.h"
#include "tune_graphs.h"

namespace svod {

struct TunedGraph {
  std::string name;
  PlanSearchResult result;
  std::string problem;  // why nothing was looked for
};

/// Of the graphs with these numbers, one after the other, until `settings.deadline`. `builds`: of the files of
/// `request`, in order. Records go to `appender` and into `log`. Errors: those of the appender.
Result<std::vector<TunedGraph>> tuneDecisions(const Request& request, Workplace& place, std::deque<BuildResult>& builds,
                                              std::span<const size_t> graphs, TuningLog& log, LogAppender& appender,
                                              const TuneSettings& settings, TuneProgress& progress);

/// One graph as -O1 and the log make it, with these decisions; without those that the log has. Errors: of the compile.
Result<BuildResult> buildTuned(const Request& request, Workplace& place, const std::string& graph, const Asked& asked,
                               const TuningLog& log);

Table describeGraphs(const std::vector<TunedGraph>& graphs);

}  // namespace svod
