// How long candidates take, and whether one is faster than another.
#pragma once
#include "measure/loaded.h"
#include "search/measure.h"

namespace svod {

/// How many tiles of a kernel are enough to tell how long all of them take, which is `nanoseconds`: 2 ms, and four.
int64_t tilesOfSample(int64_t tiles, double nanoseconds);

/// Timed or Slow, by samples of 0.2 ms and more: the median of seven; of two where both lie far above what is wanted.
/// With `usual`, which takes `usualNs` nanoseconds, the seven become five pairs, interleaved with it: what the machine
/// does meanwhile concerns both. The time is then the median of their ratios, times `usualNs`.
TrialResult timesOf(const Loaded& loaded, double stopAbove, const Loaded* usual, double usualNs);

/// Wins or Loses, by Runner::compare()'s test; the time is the ratio times `usualNs`.
TrialResult comparisonOf(const Loaded& candidate, const Loaded& usual, double usualNs);

}  // namespace svod
