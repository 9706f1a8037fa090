// Tuning of some graphs within a time: first opts of their kernels (kernel_turns.h), then decisions about the graphs
// (decisions.h), at last the winners of both once more inside the plans (check.h), unless all is priced and nothing
// runs.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "tune/check.h"
#include "tune/decisions.h"
#include "tune/kernel_turns.h"

namespace svod {

struct TuneTask {
  TuneOptions options;
  bool wantsOpts = true, wantsDecisions = true;  // neither: what a log knows is checked
  double seconds = 600;                          // for all of it
  std::string folder;                            // for code that is measured
};

struct TuneResult {
  std::vector<Tuned> kernels;
  std::vector<TunedGraph> graphs;
  std::vector<CheckedGraph> checks;
};

/// Adds what is measured to `log`, and by `appender`. The graphs have one target, and their code runs here
/// (checkRunsHere) where it is not priced. Errors: those of the appender.
Result<TuneResult> tune(std::deque<TuneGraph>& graphs, TuningLog& log, LogAppender& appender, const TuneTask& task,
                        TuneProgress::Shows shows = {});

/// The part of the time that opts of kernels have where decisions are looked for as well.
inline constexpr double kPartOfKernels = 0.65;

}  // namespace svod
