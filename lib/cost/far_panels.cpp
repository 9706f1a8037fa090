#include "cost/far_panels.h"

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

}  // namespace svod
