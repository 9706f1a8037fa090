#include "cost/lane_panels.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/local_buffers.h"
#include "facts/panels.h"
#include "facts/patterns.h"

namespace svod {

namespace {

/// Whether what is read and stored lies in lines that are shorter than a vector: along them lanes would be idle.
bool hasShortLines(const KernelFacts& kernel, UOp axis, int64_t width) {
  const auto isNear = [&](const Access& a, UOp line) {
    const std::optional<int64_t> stride = strideOf(a, line);
    return stride && *stride > 0 && *stride < width;
  };
  return std::ranges::none_of(kernel.axes, [&](const Axis& line) {
    return line.nest == Nest::Output && line.range != axis && maxExtent(line.range) >= width &&
           std::ranges::any_of(kernel.accesses, [&](const Access& a) { return isNear(a, line.range); });
  });
}

}  // namespace

std::vector<Access> panelsForLanes(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                                   UOp axis, int64_t width) {
  std::vector<Access> found;
  const bool isProduct = kernel.pattern() == Pattern::Gemm;
  if (!isProduct && !(kernel.pattern() == Pattern::Conv && hasShortLines(kernel, axis, width))) return found;
  const auto hasRows = [&](const Access& load, UOp reduce) {
    return std::ranges::any_of(kernel.axes, [&](const Axis& row) {
      return row.nest == Nest::Output && row.range != axis && axisType(row.range) == AxisType::Loop &&
             maxExtent(row.range) >= parameters::kWorthPanel && reduce.dependsOn(row.range) &&
             !load.node.dependsOn(row.range) && !isInFill(kernel, row.range);
    });
  };
  for (const Access& a : kernel.accesses) {
    const bool isOnly = std::ranges::count(kernel.accesses, a.slot, &Access::slot) == 1;
    if (a.isStore || !a.slot || !isOnly || !a.node.dependsOn(axis) || strideOf(a, axis) == 1) continue;
    const bool isFree = std::ranges::find(laidOut, *a.slot) != laidOut.end();
    if (!isFree && !isProduct) continue;
    for (UOp n : kernel.reduces) {
      if (std::ranges::none_of(n.src().subspan(1), [&](UOp r) { return a.node.dependsOn(r); })) continue;
      const std::optional<Panel> panel = panelOf(a, n);
      if (panel && (isFree || (panel->bytesPerColumn * width <= caps.l2Bytes && hasRows(a, n)))) found.push_back(a);
    }
  }
  return found;
}

}  // namespace svod
