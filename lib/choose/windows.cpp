#include "choose/windows.h"

#include <algorithm>

#include "choose/pack_b.h"
#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

bool enterTile(Chooser& c, UOp loop, int64_t amount, std::vector<uint32_t>& inside) {
  uint32_t id = idOf(loop);
  if (amount < maxExtent(loop)) {
    if (!c.apply(OptKind::Tile, id, amount, "what one copy of the input holds")) return false;
    id = idOf(c.inner());
  }
  inside.push_back(id);
  return true;
}

bool orderLoops(Chooser& c, const Windows& w, std::span<const uint32_t> inside) {
  AxisList order;
  auto add = [&](std::span<const UOp> loops) {
    for (UOp r : loops)
      if (std::ranges::find(inside, idOf(r)) == inside.end()) order.axes.push_back(c.numberOf(idOf(r)));
  };
  add(w.outer);
  add(w.filters);
  for (uint32_t id : inside) order.axes.push_back(c.numberOf(id));
  return std::ranges::is_sorted(order.axes) || c.apply(OptKind::Order, order, "all filters use one copy of the input");
}

void vectorizeCopy(Chooser& c, uint32_t slot) {
  for (const Access& a : c.facts().accesses) {
    if (a.slot != slot || a.isStore) continue;
    std::vector<Axis> axes = c.facts().axes;
    const Axis& last = axes.back();
    const int64_t stride = strideOf(a, last.range).value_or(0);
    if (last.nest != Nest::Fill || stride < 1 || stride > parameters::kNearLanes) return;
    int64_t width = c.caps.vectorBytes / byteSize(a.node.dtype());
    while (width > 2 && width > maxExtent(last.range)) width /= 2;
    uint32_t id = idOf(last.range);
    if (c.apply(OptKind::Vector, id, width, kCopyLanes) && maxExtent(c.range(id)) <= 4)
      c.apply(OptKind::Upcast, id, 0, "a line of the copy is a few vectors");
    return;
  }
}

}  // namespace svod
