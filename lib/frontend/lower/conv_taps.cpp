#include "frontend/lower/conv_taps.h"

#include <algorithm>

#include "support/integers.h"

namespace svod {

namespace {

constexpr int64_t kWorthParts = 5;  // a part of the cost that is worth kernels of their own: one of so many

// Each tap of a range is multiplied with its results, and its weights are read, which takes as long as a result.
int64_t costOf(const TapRange& r) { return (r.count + 1) * r.tapCount; }

// The results [first, end) for which the tap is inside of the operand.
struct Reach {
  int64_t first, end;
};

Reach reachOf(const WindowAxis& a, int64_t tap) {
  const int64_t from = a.before.constant() - tap * a.dilation, count = a.count.constant();
  const auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at, 0, count); };
  return {clamped(ceilDiv(from, a.stride)), clamped(ceilDiv(from + a.size.constant(), a.stride))};
}

// The taps that some of the results [first, first + count) need.
TapRange rangeOf(std::span<const Reach> reaches, int64_t first, int64_t count) {
  TapRange range{first, count, 0, 0};
  int64_t least = -1, most = -1;
  for (size_t tap = 0; tap < reaches.size(); ++tap) {
    if (reaches[tap].first >= first + count || reaches[tap].end <= first || reaches[tap].first >= reaches[tap].end)
      continue;
    most = static_cast<int64_t>(tap);
    if (least < 0) least = most;
  }
  range.firstTap = std::max<int64_t>(least, 0);
  range.tapCount = least < 0 ? 1 : most - least + 1;
  return range;
}

}  // namespace

bool isFixed(const WindowAxis& a) {
  return a.size.isConst() && a.kernel.isConst() && a.before.isConst() && a.count.isConst() && a.count.constant() > 0;
}

std::vector<TapRange> tapRanges(const WindowAxis& a) {
  if (!isFixed(a)) return {{0, a.count.max(), 0, a.kernel.max()}};
  std::vector<Reach> reaches;
  std::vector<int64_t> ends{a.count.constant()};
  for (int64_t tap = 0; tap < a.kernel.constant(); ++tap) {
    reaches.push_back(reachOf(a, tap));
    ends.push_back(reaches.back().first), ends.push_back(reaches.back().end);
  }
  std::ranges::sort(ends);
  std::vector<TapRange> parts;
  int64_t first = 0;
  for (int64_t end : ends) {
    if (end <= first) continue;
    const TapRange next = rangeOf(reaches, first, end - first);
    const bool goesOn =
        !parts.empty() && parts.back().firstTap == next.firstTap && parts.back().tapCount == next.tapCount;
    if (goesOn) parts.back().count += next.count;
    if (!goesOn) parts.push_back(next);
    first = end;
  }
  const TapRange whole = rangeOf(reaches, 0, a.count.constant());
  int64_t cost = 0;
  for (const TapRange& part : parts) cost += costOf(part);
  return (costOf(whole) - cost) * kWorthParts < costOf(whole) ? std::vector{whole} : parts;
}

std::vector<TapRange> reachedTaps(const WindowAxis& a) {
  std::vector<TapRange> taps;
  for (int64_t tap = 0; tap < a.kernel.constant(); ++tap)
    if (const Reach reach = reachOf(a, tap); reach.first < reach.end)
      taps.push_back({reach.first, reach.end - reach.first, tap, 1});
  return taps;
}

WindowAxis windowsOf(GraphBuilder& b, const WindowAxis& axis, const TapRange& range) {
  const bool isWhole = axis.count.is(range.count) && axis.kernel.is(range.tapCount);
  if (isWhole || !isFixed(axis)) return axis;
  WindowAxis part = axis;
  part.kernel = b.dim(range.tapCount), part.count = b.dim(range.count);
  part.before = b.dim(axis.before.constant() - range.first * axis.stride - range.firstTap * axis.dilation);
  return part;
}

}  // namespace svod
