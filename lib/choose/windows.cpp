#include "choose/windows.h"

#include <algorithm>

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

std::optional<uint32_t> copyLines(Chooser& c, const Windows& w, int64_t lines) {
  std::vector<uint32_t> inside;
  if (!enterTile(c, w.line, lines, inside) || !enterTile(c, w.column, maxExtent(w.column), inside)) return std::nullopt;
  if (!orderLoops(c, w, inside)) return std::nullopt;
  PackArgs copy{w.slot, {}};
  for (UOp r : w.taps) copy.axes.push_back(c.numberOf(idOf(r)));
  for (uint32_t id : inside) copy.axes.push_back(c.numberOf(id));
  if (!c.apply(OptKind::Window, copy, "one copy, padding included, serves all taps and filters")) return std::nullopt;
  return inside[0];
}

}  // namespace svod
