#include "cost/far_panels.h"

#include "cost/parameters.h"

namespace svod {

std::optional<Access> farPanels(const KernelFacts& kernel, UOp column, UOp row, const Caps& caps) {
  const double stays = static_cast<double>(caps.l2Bytes) / 2;
  std::optional<Access> panels;
  for (const Access& a : kernel.accesses) {
    if (a.isStore || !a.slot) continue;
    if (a.node.dependsOn(row) ? bytesRead(a) > stays : bytesRead(a) > stays && panels) return std::nullopt;
    if (a.node.dependsOn(column) && bytesRead(a) > stays) panels = a;
  }
  return panels;
}

bool paysToPack(const Panel& panel, const Caps& caps, int64_t width, int64_t rowTiles) {
  const bool isFar = panel.bytesPerColumn * width > caps.l2Bytes / 4;
  return rowTiles >= (isFar ? parameters::kPackFarTiles : parameters::kPackTiles) &&
         panel.rowStride * panel.elementBytes >= parameters::kPackStride;
}

}  // namespace svod
