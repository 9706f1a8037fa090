// Which taps of a convolution meet the operand: where windows are dilated or hang over it far, many lie in the padding
// for a whole range of results.
#pragma once
#include <vector>

#include "frontend/lower/common.h"

namespace svod {

/// Neighbouring results along an axis, and the taps that meet the operand for some of them.
struct TapRange {
  int64_t first, count;        // results
  int64_t firstTap, tapCount;  // at least one
};

/// Whether every run has the same windows along an axis, and at least one.
bool isFixed(const WindowAxis& axis);
/// The results of an axis in ranges, in order. Several where that takes at least a fifth less, products and reads of
/// weights together; one, of the taps that any result needs, otherwise. One of all taps where only a run knows the
/// sizes.
std::vector<TapRange> tapRanges(const WindowAxis& axis);
/// Each tap that some results need, with all of these. The windows have fixed sizes.
std::vector<TapRange> reachedTaps(const WindowAxis& axis);
/// The windows of that part alone.
WindowAxis windowsOf(GraphBuilder& b, const WindowAxis& axis, const TapRange& range);

}  // namespace svod
