// Round-robin tuning of kernels within a budget. Which has the next turn says budget.h, and which list of opts is tried
// next search/search.h.
#pragma once
#include <string>
#include <vector>

#include "tune/kernels.h"
#include "tune/place.h"
#include "tune/progress.h"
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
  TuneOptions options;
  TunePlace place;
  std::string folder;  // for code
  std::string ahead;   // where candidates lie that were compiled ahead (measure/code_store.h); empty: nowhere
  TuneClock::time_point deadline;
};

/// What a search of a kernel is told, and what it begins with.
SearchOptions searchOptions(const TuneKernel& task, const TuningLog& log, const TuneSettings& settings);
/// What is known of the machine, and of the arguments of the kernel.
Caps capsFor(const TuneKernel& task);

/// Tunes them in turns. What `log` knows is not measured again; what is measured goes to `appender` and into `log` at
/// once. `first`: their place in `progress`. The result has the order of `kernels`. Errors: those of the appender.
Result<std::vector<Tuned>> tuneInTurns(const std::vector<TuneKernel>& kernels, TuningLog& log, LogAppender& appender,
                                       const TuneSettings& settings, TuneProgress& progress, size_t first = 0);

}  // namespace svod
