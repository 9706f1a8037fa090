// Tuning of some kernels within a time.
#pragma once
#include <string>
#include <vector>

#include "report/document.h"
#include "tune_kernels.h"
#include "tune_progress.h"
#include "tuning/log_file.h"

namespace svod {

/// What became of a kernel in this run.
struct Tuned {
  TuneKernel kernel;
  SearchResult result;  // of its last turn; candidates and outcomes are those of all turns
  std::string problem;  // why it was not tuned
};

struct TuneSettings {
  TunePlace place;
  std::string folder;  // for code
  TuneClock::time_point deadline;
};

/// Tunes them in turns, as the flags of `request` say. What `log` knows is not measured again; what is measured goes to
/// `appender` at once. The result has the order of `kernels`. Errors: those of the appender.
Result<std::vector<Tuned>> tuneInTurns(const Request& request, const std::vector<TuneKernel>& kernels, TuningLog log,
                                       LogAppender& appender, const TuneSettings& settings, TuneProgress& progress);

/// A table of all of them, and what was gained.
Document describe(const std::vector<Tuned>& all, const std::string& log);

}  // namespace svod
