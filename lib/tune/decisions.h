// The search for decisions about graphs: whole plans, in which only kernels that are new are tuned. Which is tried next
// says search/plan_search.h.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "search/plan_search.h"
#include "tune/kernel_turns.h"

namespace svod {

struct TunedGraph {
  std::string name;
  PlanSearchResult result;
  std::string problem;  // why nothing was looked for
};

/// Of these graphs, one after the other, until `settings.deadline`. Records go to `appender` and into `log`. Errors:
/// those of the appender.
Result<std::vector<TunedGraph>> tuneDecisions(std::span<TuneGraph* const> graphs, TuningLog& log, LogAppender& appender,
                                              const TuneSettings& settings, TuneProgress& progress);

}  // namespace svod
