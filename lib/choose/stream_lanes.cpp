#include "choose/stream_lanes.h"

#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/operand_walks.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

/// How many of the vectors of a loop one iteration takes. The last iteration takes some again where it must, but where
/// addresses go on in steps that are all alike they stay that, as prefetching relies on it.
int64_t vectorsAtOnce(int64_t vectors, bool isEven, double weight, bool isInner) {
  const auto workOf = [&](int64_t n) {
    return static_cast<double>(ceilDiv(vectors, n)) * (static_cast<double>(n) * weight + kTurnWeight);
  };
  if (isInner && vectors <= kWrittenOut && static_cast<double>(vectors) * weight <= kWrittenWeight) return vectors;
  int64_t best = 1;
  for (int64_t n : {4, 2, 3, 5}) {
    const bool fits = ceilDiv(vectors, n) >= 4 && (weight <= kCheapBody || n == 2) && (!isEven || vectors % n == 0);
    if (fits && workOf(n) < kClearlyLess * workOf(best)) best = n;
  }
  return best;
}

/// Vectors that make a line of the cache, where loads run along the lanes and the loops inside of theirs go elsewhere.
int64_t vectorsOfLine(const Chooser& c, const Lanes& lanes) {
  UOp innermost;
  for (const Axis& axis : c.facts().axes)
    if (axis.nest == Nest::Output && maxExtent(axis.range) > 1) innermost = axis.range;
  if (!innermost || innermost == lanes.range) return 1;
  int64_t vectors = 1;
  for (const Access& a : c.facts().accesses)
    if (!a.isStore && strideOf(a, lanes.range) == 1)
      vectors = std::max(vectors, c.caps.lineBytes / (lanes.width * byteSize(a.node.dtype())));
  return vectors;
}

/// The loop along which runs of a result go on, where lanes do not run along these; null for all others. More than two
/// iterations at once take more registers than the longer runs save.
UOp loopOfRuns(const Chooser& c, const Lanes& lanes) {
  for (const Access& a : c.facts().accesses) {
    const int64_t run = a.isStore && strideOf(a, lanes.range).value_or(0) > 1 ? runOf(a) : 1;
    if (run < 2) continue;
    for (const Axis& axis : c.facts().axes) {
      const int64_t extent = maxExtent(axis.range);
      const bool isEven = static_cast<double>(roundUp(extent, 2)) <= kRepeated * static_cast<double>(extent);
      if (axis.nest == Nest::Output && axisType(axis.range) == AxisType::Loop && extent > 1 && isEven &&
          strideOf(a, axis.range) == run)
        return axis.range;
    }
  }
  return {};
}

}  // namespace

void widenStreams(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  const int64_t line = vectorsOfLine(c, lanes);
  const UOp along = loopOfRuns(c, lanes);
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "along this loop it takes the fewest instructions");
  if (along) {
    c.apply(OptKind::Upcast, idOf(along), 2, "results are stored in longer runs");
    return;
  }
  const UOp loop = c.range(idOf(lanes.range));
  double weight = 0;
  bool isInner = false;
  for (UOp n : c.facts().nodes) {
    if (!n.dependsOn(loop)) continue;
    weight += opWeight(n), isInner |= n.ranges().size() > 1;
  }
  const std::optional<int64_t> extent = constExtent(lanes.range);
  if (!extent) return;
  const int64_t vectors = ceilDiv(*extent, lanes.width);
  const int64_t n = vectorsAtOnce(vectors, *extent % lanes.width == 0, weight, isInner);
  if (n == 1) {
    if (line > 1 && *extent % lanes.width == 0 && vectors % line == 0)
      c.apply(OptKind::Upcast, idOf(lanes.range), line, "whole lines are read before the next step goes elsewhere");
    return;
  }
  c.apply(OptKind::Upcast, idOf(lanes.range), n,
          n == vectors ? "a short loop: all of its vectors at once" : "several vectors per step");
}

}  // namespace svod
