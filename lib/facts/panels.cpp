#include "facts/panels.h"

#include <algorithm>

#include "facts/reduces.h"

namespace svod {

std::optional<Panel> panelOf(const Access& load, UOp reduce) {
  if (!load.slot) return std::nullopt;
  Panel panel{*load.slot, {}, byteSize(load.node.dtype()), byteSize(load.node.dtype()), 0};
  for (UOp r : reduce.src().subspan(1)) {
    if (!load.node.dependsOn(r)) continue;
    if (axisType(r) == AxisType::Dot) {  // beside its column
      panel.bytesPerColumn *= maxExtent(r);
      continue;
    }
    const std::optional<int64_t> step = greatestStrideOf(load, r);
    if ((!step && !sumsGroups(reduce)) || axisType(r) != AxisType::Reduce) return std::nullopt;
    panel.reduceAxes.push_back(r), panel.rowStride = step.value_or(0);
    if (__builtin_mul_overflow(panel.bytesPerColumn, maxExtent(r), &panel.bytesPerColumn)) return std::nullopt;
  }
  return panel.reduceAxes.empty() ? std::nullopt : std::optional(panel);
}

std::optional<Panel> panelForRows(const KernelFacts& kernel, UOp reduce, UOp lanes, UOp rowAxis,
                                  std::span<const uint32_t> laidOut, std::optional<uint32_t> slot) {
  const std::vector<Access>& all = kernel.accesses;
  for (const Access& a : all) {
    if (a.isStore || !a.slot || !a.node.dependsOn(lanes) || a.node.dependsOn(rowAxis)) continue;
    const bool isLaidOut = std::ranges::find(laidOut, *a.slot) != laidOut.end();
    if (slot ? a.slot != *slot : strideOf(a, lanes) != 1 && !isLaidOut) continue;
    if (std::ranges::count(all, a.slot, &Access::slot) != 1) continue;
    if (std::optional<Panel> panel = panelOf(a, reduce)) return panel;  // nothing for a bias of each column
  }
  return std::nullopt;
}

}  // namespace svod
