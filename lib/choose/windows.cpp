#include "choose/windows.h"

#include <algorithm>

#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"

namespace svod {

bool enterTile(Chooser& c, UOp loop, int64_t amount, std::vector<uint32_t>& inside) {
  uint32_t id = idOf(loop);
  if (amount < maxExtent(loop) || !constExtent(loop)) {
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

std::vector<int64_t> linesOfCopy(const Windows& w) {
  const int64_t lines = maxExtent(w.line);
  std::vector<int64_t> tried;
  if (constExtent(w.line)) {
    for (int64_t parts = 1; parts <= lines; ++parts)
      if (const int64_t n = ceilDiv(lines, parts); tried.empty() || n != tried.back()) tried.push_back(n);
    return tried;
  }
  tried = {parameters::kFreeLines, parameters::kFreeLines * 3 / 4, parameters::kFreeLines / 2,
           parameters::kFreeLines / 4};
  std::ranges::stable_sort(tried, {}, [&](int64_t n) { return ceilDiv(lines, n) * (n + parameters::kLinesAgain); });
  return tried;
}

int64_t columnsOfCopy(const Windows& w, int64_t lanes) {
  if (constExtent(w.column)) return maxExtent(w.column);
  const int64_t columns = std::max<int64_t>(1, maxExtent(w.column)), most = parameters::kFreeVectors * lanes;
  return roundUp(ceilDiv(columns, ceilDiv(columns, most)), std::min(lanes, columns));
}

std::optional<CopiedLines> copyLines(Chooser& c, const Windows& w, int64_t lines, int64_t columns) {
  std::vector<uint32_t> inside;
  if (!enterTile(c, w.line, lines, inside) || !enterTile(c, w.column, columns, inside)) return std::nullopt;
  if (!orderLoops(c, w, inside)) return std::nullopt;
  PackArgs copy{w.slot, {}};
  for (UOp r : w.taps) copy.axes.push_back(c.numberOf(idOf(r)));
  for (uint32_t id : inside) copy.axes.push_back(c.numberOf(id));
  // Windows of one element share nothing. Groups of it are packed: they have to lie side by side.
  if (!c.apply(OptKind::Window, copy, "one copy, padding included, serves all taps and filters") &&
      !(hasGroups(c.facts()) && c.apply(OptKind::Pack, copy, "groups of what is not skipped lie side by side")))
    return std::nullopt;
  return CopiedLines{inside[0], inside[1]};
}

std::optional<CopiedWindows> copyThatStays(const Chooser& c, const Windows& w, int64_t columns) {
  for (int64_t n : linesOfCopy(w)) {
    CopiedWindows copied{c, {}};
    const std::optional<CopiedLines> loops = copyLines(copied.kernel, w, n, columns);
    if (!loops || copied.kernel.facts().fills.empty()) return std::nullopt;
    copied.loops = *loops;
    if (fillBytes(copied.kernel.facts().fills[0]) <= residentBytes(c.caps)) return copied;
  }
  return std::nullopt;
}

}  // namespace svod
