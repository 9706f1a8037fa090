#include "facts/row_sweeps.h"

#include <algorithm>

namespace svod {

std::vector<int32_t> sweepsWith(const KernelFacts& kernel, size_t first) {
  const std::vector<Axis>& axes = kernel.axes;
  std::vector<int32_t> sweeps{static_cast<int32_t>(first)};
  for (size_t k = 0; k < axes.size(); ++k)
    if (k != first && axes[k].nest == Nest::Reduce && axes[k].range.src(0) == axes[first].range.src(0))
      sweeps.push_back(static_cast<int32_t>(k));
  return sweeps;
}

UOp rowsReadingTheSame(const KernelFacts& kernel, UOp sweep, int64_t least) {
  for (const Axis& row : kernel.axes) {
    if (row.nest != Nest::Output || axisType(row.range) != AxisType::Loop || maxExtent(row.range) < least) continue;
    for (UOp reduce : kernel.closersOf(sweep)) {
      if (reduce.op() != Op::Reduce || !reduce.dependsOn(row.range)) continue;
      for (const Access& a : kernel.accesses)
        if (a.node.dependsOn(sweep) && !a.node.dependsOn(row.range)) return row.range;
    }
  }
  return {};
}

int64_t transcendentalsOf(const KernelFacts& kernel) {
  return std::ranges::count_if(kernel.nodes, [](UOp n) { return has(n.op(), Transcend); });
}

}  // namespace svod
