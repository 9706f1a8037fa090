// The graphs of svodc tune, compiled as -O1 does, and whether they can be measured here.
#pragma once
#include <deque>

#include "build.h"
#include "tune_kernels.h"
#include "tuning/log_file.h"

namespace svod {

/// What tuning does not take. Errors: Usage, Unsupported.
Status checkTuning(const Request& request);

/// What --search has looked for. Errors of searchOf: Usage.
struct SearchKind {
  std::string_view name;
  bool wantsOpts, wantsDecisions;  // of kernels; about graphs
};
Result<SearchKind> searchOf(const Flags& flags);
inline constexpr double kKernels = 0.65;  // of the time, that is for opts of kernels where both are looked for

/// Has compiles of this process find the kernels of each other, and no others.
void keepKernels(Request& request, const Workplace& place);

/// Without a log: what is measured is compared with -O1.
Result<std::deque<BuildResult>> buildAll(const Request& request, Console& console, Workplace& place);

/// Whether the code can run on this processor, and --allow-c lets functions of C files run. Errors: Unsupported, Usage.
Status checkMachine(const std::deque<BuildResult>& builds, const Flags& flags);

/// Names the graphs, and the kernels of their baseline plans, in `log` and by `appender` where they are not there yet.
Status recordGraphs(const std::deque<BuildResult>& builds, const Request& request, TuningLog& log,
                    LogAppender& appender);

/// That run a kernel at most while it is timed.
int threadsOf(const Flags& flags);

/// Where records of these builds come from when they are measured here.
TunePlace placeOf(const std::deque<BuildResult>& builds, const Request& request);

}  // namespace svod
