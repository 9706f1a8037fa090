// Final validation: winners timed once more where they will run, inside the whole plan.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "tune/kernel_turns.h"

namespace svod {

/// One graph: its plan with all that was found, and the one of -O1.
struct CheckedGraph {
  std::string name;
  double warm = 1, cold = 1;        // the time of the tuned plan as a part of that of -O1
  size_t checked = 0, dropped = 0;  // kernels with a winner; those and decisions that are not faster there
  size_t untold = 0;                // winners for which there was no time
  std::string problem;              // why it was not run
};

/// Every winner that was not timed inside the plan of its graph yet: what is not faster there has lost, with the
/// reason, and the next best takes its place; decisions as well. Where the whole plan is slower than that of -O1 with
/// those that are left, more of them lose. What it gains is recorded. Errors: those of the appender.
Result<std::vector<CheckedGraph>> checkInPlans(const std::deque<TuneGraph>& graphs, TuningLog& log,
                                               LogAppender& appender, const TuneSettings& settings);

}  // namespace svod
