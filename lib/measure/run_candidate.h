// Sandboxed runs: machine code that may do anything, in a process of its own.
#pragma once
#include <vector>

#include "measure/child.h"
#include "measure/code.h"
#include "search/measure.h"

namespace svod {

/// What every candidate of a kernel computes with, by slot, in the order of the graph.
struct KernelData {
  std::vector<std::vector<std::byte>> operands;
  std::vector<ElementType> types;
  /// What slots that are written hold afterwards; empty ones are not compared.
  std::vector<std::vector<std::byte>> wanted;
};

struct RunLimits {
  double seconds = 10;                     // that it may run without an end
  uint64_t moreBytes = uint64_t{1} << 30;  // of memory besides its buffers
};

/// How candidates run while they are timed.
struct RunConditions {
  int threads = 1;          // that share the tiles
  bool coldCaches = false;  // before every run
  bool wholeGrids = false;  // also where some tiles would tell how long all take
};

/// Runs it once and keeps in `data.wanted` what it writes. Timed, or a failure.
TrialResult runReference(const CandidateCode& code, KernelData& data, const RunLimits& limits);

/// Runs candidates one after the other in one process, which is replaced after every one that failed.
class Runner {
 public:
  /// `data` must stay as it is, and outlives it.
  Runner(const KernelData& data, const RunLimits& limits, const RunConditions& conditions = {});

  /// What candidates are timed beside, once it was timed itself: the opts of -O1. A failure otherwise.
  TrialResult setBaseline(const CandidateCode& baseline);

  /// Runs it, compares what it writes, and times it after a run that is not counted. Above `stopAbove`
  /// nanoseconds, if that is not 0: Slow, which a few of its tiles may tell; from two fifths of that on two samples are
  /// all. What is faster runs in turns with the baseline (timing.h).
  TrialResult time(const CandidateCode& code, double stopAbove);

  /// Runs it and the baseline in turns, the first one changing with each pair of samples, and decides by a
  /// sequential test of pairs that the candidate takes (a pair counts where it takes at most 98 % of the time): Wald's
  /// test of one half of all pairs against four fifths, with an error of 1 % on either side and at most 60 pairs. Wins
  /// or Loses; undecided is Loses. The ratio is the median of all pairs. They run on as many as eight copies of the
  /// data in pages of their own: less where that would be more than 32 MiB, one with several threads.
  TrialResult compare(const CandidateCode& code);

 private:
  TrialResult ask(const CandidateCode& code, double stopAbove, bool compares);

  RunLimits limits_;
  AnsweringChild child_;
  std::string baseline_;  // as text
  double baselineNs_ = 0;
};

}  // namespace svod
