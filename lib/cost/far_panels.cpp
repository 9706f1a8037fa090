#include "cost/far_panels.h"

#include "cost/levels.h"
#include "cost/parameters.h"

namespace svod {

std::optional<Access> farPanels(const KernelFacts& kernel, UOp column, UOp row, const Caps& caps) {
  const auto isFar = [&](const Access& a) { return !isResident(bytesRead(a), caps); };
  std::optional<Access> panels;
  for (const Access& a : kernel.accesses) {
    if (a.isStore || !a.slot) continue;
    if (isFar(a) && (a.node.dependsOn(row) || panels)) return std::nullopt;
    if (a.node.dependsOn(column) && isFar(a)) panels = a;
  }
  return panels;
}

bool paysToPack(const Panel& panel, const Caps& caps, int64_t width, int64_t rowTiles) {
  const bool isFar = panel.bytesPerColumn * width > residentBytes(caps) / 2;
  return rowTiles >= (isFar ? parameters::kPackFarTiles : parameters::kPackTiles) &&
         panel.rowStride * panel.elementBytes >= parameters::kPackStride;
}

}  // namespace svod
