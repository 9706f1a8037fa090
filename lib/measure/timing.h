// Timing statistics: how long candidates take, and whether one is faster than another.
#pragma once
#include <memory>
#include <span>

#include "measure/loaded.h"
#include "search/measure.h"

namespace svod {

/// How many tiles of a kernel are enough to tell how long all of them take, which is `nanoseconds`: 2 ms, and four for
/// each thread that shares them.
int64_t tilesOfSample(int64_t tiles, double nanoseconds, int threads = 1);

/// A candidate and what it is compared with, on the same buffers. How fast memory is depends on where its pages lie in
/// the caches, and which of two lists gains from that changes with it: samples are taken in several sites in turns.
struct Site {
  std::unique_ptr<Loaded> candidate;
  const Loaded* baseline = nullptr;  // null: none
};

/// The first run of a candidate, for its values, and how long it took. Slow where a few of its tiles, or all of them,
/// took far more than `stopAbove` nanoseconds (if that is more than 0), and long: its values are nobody's then.
TrialResult firstRunOf(const Loaded& loaded, double stopAbove);

/// Timed or Slow, by samples of 0.2 ms and more, each behind a run of its own that brings what caches hold between two
/// runs: the median of seven; of two where both lie far above what is wanted.
/// With the baseline, which takes `baselineNs` nanoseconds, the seven become five pairs, interleaved with it: what
/// the machine does meanwhile concerns both. The time is then the median of their ratios, times `baselineNs`. Long runs
/// stay in the first site. `firstNs`: of the first run.
TrialResult timesOf(std::span<const Site> sites, double firstNs, double stopAbove, double baselineNs);

/// Wins or Loses, by Runner::compare()'s test; the time is the ratio times `baselineNs`.
TrialResult comparisonOf(std::span<const Site> sites, double baselineNs);

}  // namespace svod
