#include "cost/thread_tiles.h"

#include <algorithm>
#include <cmath>

#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"
#include "support/integers.h"

namespace svod {

namespace {

// Instructions to fill a local buffer once, in vectors.
double fillCost(const Caps& caps, UOp fill) {
  return (isGated(fill) ? parameters::kGatedFill : parameters::kPlainFill) * static_cast<double>(fillBytes(fill)) /
         caps.vectorBytes;
}

// At least `least` iterations per part such that the last part repeats few of the one before; 0 for no split.
int64_t evenPart(int64_t extent, int64_t least) {
  for (int64_t parts = extent / least; parts > 1; --parts) {
    int64_t part = ceilDiv(extent, parts);
    if (static_cast<double>(part * parts) <= parameters::kRepeated * static_cast<double>(extent)) return part;
  }
  return 0;
}

// Whether every tile goes through all iterations of a loop around `axis` that must run in order.
bool isInsideSerial(const KernelFacts& kernel, UOp axis) {
  if (!kernel.reduces.empty() || !constExtent(axis)) return false;
  const auto loops = kernel.closersOf(axis)[0].src().subspan(1);
  return std::any_of(loops.begin(), std::ranges::find(loops, axis),
                     [](UOp r) { return axisType(r) == AxisType::Serial; });
}

// Iterations of such an axis whose part of what one of those writes is a run of memory; 0 where that is all of it.
int64_t longRun(const KernelFacts& kernel, UOp axis) {
  int64_t bytes = 1;
  for (const Access& a : kernel.accesses)
    if (a.isStore) bytes = std::max<int64_t>(bytes, byteSize(a.node.src(0).dtype()));
  const auto loops = kernel.closersOf(axis)[0].src().subspan(1);
  for (auto r = std::ranges::find(loops, axis) + 1; r != loops.end(); ++r)
    if (axisType(*r) != AxisType::Serial) bytes *= maxExtent(*r);
  int64_t parts = maxExtent(axis) * bytes / parameters::kSerialRun;
  while (parts > 1 && maxExtent(axis) % parts != 0) --parts;
  return parts > 1 ? maxExtent(axis) / parts : 0;
}

}  // namespace

int64_t iterationsPerTile(const KernelFacts& kernel, const Caps& caps, UOp axis, int64_t tiles) {
  const bool areShared = tiles % caps.workers == 0;
  double refills = 0;
  bool copiesWindows = false;
  for (UOp n : kernel.nodes) {
    if ((n.op() != Op::Reduce && n.op() != Op::Fill) || n.dependsOn(axis)) continue;
    const bool inLanes = std::ranges::any_of(n.ranges(), [](UOp r) { return axisType(r) == AxisType::Vector; });
    if (n.op() == Op::Reduce && !inLanes && hasGroups(kernel)) continue;  // bytes of a row: once per panel anyway
    if (n.op() == Op::Reduce) return 0;
    refills += fillCost(caps, n);
    copiesWindows |= isGated(n);
    // Equal shares already; tile units multiply a panel in few times what it takes to copy it.
    if (areShared && (isGated(n) || hasTiles(kernel) || tiles >= 2 * caps.workers)) return 0;
  }
  if (refills == 0) return isInsideSerial(kernel, axis) ? longRun(kernel, axis) : 1;
  if (!constExtent(axis) && tiles > 1) return 0;  // a part of a loop that may be short is computed whole
  int64_t wanted = (copiesWindows ? 2 : 4) * caps.workers, extent = maxExtent(axis);
  double perIteration = CostModel(kernel, caps).instructions() / static_cast<double>(extent * tiles);
  auto worth = static_cast<int64_t>(std::ceil(parameters::kWorthRefill * refills / std::max(perIteration, 1.0)));
  int64_t iterations = std::max({int64_t{1}, worth, extent * tiles / wanted});
  return tiles < wanted ? evenPart(extent, iterations) : 0;
}

}  // namespace svod
