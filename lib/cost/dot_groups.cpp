#include "cost/dot_groups.h"

#include <algorithm>

#include "cost/parameters.h"

namespace svod {

namespace {

bool isAmong(std::span<const uint32_t> slots, const Access& a) {
  return a.slot && std::ranges::find(slots, *a.slot) != slots.end();
}

}  // namespace

bool isDense(const KernelFacts& kernel, std::span<const uint32_t> laidOut, UOp reduce, UOp axis, UOp column) {
  for (const Access& a : kernel.accesses) {
    if (a.isStore || !reduce.src(0).dependsOn(axis) || !a.node.dependsOn(axis)) continue;
    const bool copied = column && a.node.dependsOn(column);
    if (!copied && strideOf(a, axis) != 1 && !isAmong(laidOut, a)) return false;
  }
  return true;
}

bool paysToGroup(const KernelFacts& kernel, std::span<const uint32_t> laidOut, UOp reduce, UOp column) {
  int64_t rows = 1;
  for (const Access& a : kernel.accesses) {
    if (a.isStore || !column || !a.node.dependsOn(column)) continue;
    if (isAmong(laidOut, a)) return true;
    for (const Axis& axis : kernel.axes)
      if (axis.nest == Nest::Output && reduce.dependsOn(axis.range) && !a.node.dependsOn(axis.range))
        rows *= maxExtent(axis.range);
  }
  return rows >= parameters::kWorthGroups;
}

}  // namespace svod
