#include "choose/thread_tiles.h"

#include <algorithm>
#include <cmath>

#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"
#include "opts/legality.h"

namespace svod {

namespace {

// Instructions to fill a local buffer once, in vectors.
double fillCost(const Chooser& c, UOp stage) {
  return (isGated(stage) ? parameters::kGatedFill : parameters::kPlainFill) * static_cast<double>(stageBytes(stage)) /
         c.caps.vectorBytes;
}

// At least `least` iterations per part such that the last part repeats few of the one before; 0 for no split.
int64_t evenPart(int64_t extent, int64_t least) {
  for (int64_t parts = extent / least; parts > 1; --parts) {
    int64_t part = ceilDiv(extent, parts);
    if (static_cast<double>(part * parts) <= parameters::kRepeated * static_cast<double>(extent)) return part;
  }
  return 0;
}

// Iterations one tile needs so that what does not depend on `axis` is not computed too often: 1 when
// everything does, 0 when the axis cannot be split over tiles, or need not be.
int64_t iterationsPerTile(const Chooser& c, UOp axis, int64_t tiles) {
  const bool areShared = tiles % c.caps.workers == 0;
  double refills = 0;
  bool copiesWindows = false;
  for (UOp n : c.facts().nodes) {
    if ((n.op() != Op::Reduce && n.op() != Op::Stage) || n.dependsOn(axis)) continue;
    const bool inLanes = std::ranges::any_of(n.ranges(), [](UOp r) { return axisType(r) == AxisType::Vector; });
    if (n.op() == Op::Reduce && !inLanes && hasGroups(c.facts())) continue;  // bytes of a row: once per panel anyway
    if (n.op() == Op::Reduce) return 0;
    refills += fillCost(c, n);
    copiesWindows |= isGated(n);
    if (areShared && (isGated(n) || tiles >= 2 * c.caps.workers)) return 0;  // equal shares already
  }
  if (refills == 0) return 1;
  if (!constExtent(axis) && tiles > 1) return 0;  // a part of a loop that may be short is computed whole
  int64_t wanted = (copiesWindows ? 2 : 4) * c.caps.workers, extent = maxExtent(axis);
  double perIteration = CostModel(c.facts(), c.caps).instructions() / static_cast<double>(extent * tiles);
  auto worth = static_cast<int64_t>(std::ceil(parameters::kWorthRefill * refills / std::max(perIteration, 1.0)));
  int64_t iterations = std::max({int64_t{1}, worth, extent * tiles / wanted});
  return tiles < wanted ? evenPart(extent, iterations) : 0;
}

}  // namespace

void splitForThreads(Chooser& c) {
  const double work = nanoseconds(CostModel(c.facts(), c.caps).instructions());
  if (!c.caps.threads || work < parameters::kWorthThreads) return;
  const std::string why = "about " + std::to_string(std::llround(work / 1000)) + " us of work to share";
  const int64_t wanted =
      std::max(static_cast<int64_t>(c.caps.workers) * parameters::kTilesPerWorker, parameters::kLeastTiles);
  for (int64_t tiles = 1; tiles < wanted;) {
    std::vector<Axis> axes = c.facts().axes;  // after the first thread axis the next is the outermost loop left
    auto at = std::ranges::find_if(axes, [](const Axis& a) {
      return a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && maxExtent(a.range) > 1;
    });
    if (at == axes.end()) return;
    int64_t extent = maxExtent(at->range), iterations = iterationsPerTile(c, at->range, tiles);
    if (iterations == 0) return;
    if (!c.apply(OptKind::Thread, AxisAmount{static_cast<int32_t>(at - axes.begin()), iterations}, why)) return;
    tiles *= ceilDiv(extent, iterations);
    if (iterations > 1) return;
  }
}

}  // namespace svod
