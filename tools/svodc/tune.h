// Tuning of some kernels within a time.
#pragma once
#include <string>
#include <vector>

#include "measure/cpu_measure.h"
#include "tune_kernels.h"
#include "tune_progress.h"
#include "tuning/log_file.h"

namespace svod {

/// What became of a kernel in this run.
struct Tuned {
  TuneKernel kernel;
  SearchResult result;  // of its last turn; candidates and outcomes are those of all turns
  std::string problem;  // why it cannot be tuned
  int turns = 0;
};

/// Whether anything is known of a list for it.
inline bool isTried(const Tuned& tuned) { return tuned.result.measured + tuned.result.known > 0; }

struct TuneSettings {
  TunePlace place;
  std::string folder;  // for code
  std::string ahead;   // where candidates lie that were compiled ahead (measure/code_store.h); empty: nowhere
  TuneClock::time_point deadline;
};

/// What a search is told by flags; of a kernel, also what it begins with.
SearchOptions searchOptions(const Flags& flags);
SearchOptions searchOptions(const Request& request, const TuneKernel& task, const TuningLog& log,
                            const TunePlace& place);
/// What a candidate may take, and how it runs.
MeasureOptions measureOptions(const Flags& flags);
/// What is known of the machine, and of the arguments of the kernel.
Caps capsFor(const TuneKernel& task);

/// Tunes them in turns, as the flags of `request` say. What `log` knows is not measured again; what is measured goes to
/// `appender` and into `log` at once. `first`: their place in `progress`. The result has the order of `kernels`.
/// Errors: those of the appender.
Result<std::vector<Tuned>> tuneInTurns(const Request& request, const std::vector<TuneKernel>& kernels, TuningLog& log,
                                       LogAppender& appender, const TuneSettings& settings, TuneProgress& progress,
                                       size_t first = 0);

}  // namespace svod
