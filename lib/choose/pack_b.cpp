#include "choose/pack_b.h"

#include <algorithm>

#include "cost/far_panels.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/reduces.h"

namespace svod {

namespace {

// Groups of a dot product: rows are interleaved, where columns are neighbours in the operand; else groups are copied.
bool fillGroups(Chooser& c, const Access& load) {
  std::vector<Axis> axes = c.facts().axes;
  if (axes.size() < 2 || axes.back().nest != Nest::Fill) return false;
  const UOp group = axes.back().range, column = axes[axes.size() - 2].range;
  const uint32_t groupId = idOf(group), columnId = idOf(column);
  const int64_t lanes = parameters::kShuffleBytes / byteSize(load.node.dtype());
  if (strideOf(load, column) == 1)
    c.apply(OptKind::Vector, columnId, std::min<int64_t>(lanes, powerBelow(maxExtent(column))), kCopyLanes);
  return c.apply(OptKind::Upcast, groupId, 0, "the copy interleaves what one instruction sums up");
}

}  // namespace

// Where lanes of the panel are not neighbours in the operand, a block of as many rows is transposed in registers.
void vectorizeFill(Chooser& c, uint32_t slot, int64_t width, int64_t vectors) {
  const bool inGroups = hasGroups(c.facts());
  for (const Access& a : c.facts().accesses) {
    if (a.slot != slot || a.isStore) continue;
    if (inGroups) {
      fillGroups(c, a);
      return;
    }
    for (const Axis& axis : c.facts().axes) {
      if (axis.nest != Nest::Fill || strideOf(a, axis.range) != 1) continue;
      UOp last = c.facts().closersOf(axis.range)[0].src().back();
      uint32_t id = idOf(axis.range), lastId = idOf(last);
      if (!c.apply(OptKind::Vector, lastId, width, kCopyLanes)) return;
      if (last != axis.range)
        c.apply(OptKind::Upcast, id, powerBelow(std::min(width, maxExtent(axis.range))),
                "the copy transposes blocks in registers");
      else if (vectors > 1)
        c.apply(OptKind::Upcast, id, vectors, "the copy is as wide as the register tile");
      return;
    }
  }
}

uint32_t splitColumns(Chooser& c, uint32_t column, uint32_t row, int64_t columns) {
  const uint32_t inner = c.innerOfTile(column, columns, "the columns of one panel");
  if (inner == column) return inner;
  const int32_t j = c.numberOf(column), i = c.numberOf(row);
  const bool isInside = i >= 0 && i < j;
  AxisList order{{j}};
  if (std::optional<Access> panels = farPanels(c.facts(), c.range(column), c.range(row), c.caps)) {
    const std::vector<Axis>& axes = c.facts().axes;
    int32_t first = j;
    while (first > 0 && !panels->node.dependsOn(axes[static_cast<size_t>(first) - 1].range)) --first;
    for (int32_t k = first; k < j; ++k) order.axes.push_back(k);
  } else if (isInside) {
    order.axes.push_back(i);
  }
  const bool prior = order.axes.size() > 1;
  if ((prior || isInside) && c.branches.decide(Branch::Order, prior))
    c.apply(OptKind::Order, prior ? order : AxisList{{j, i}}, kPanelOutside);
  return inner;
}

void packPanel(Chooser& c, const Panel& panel, uint32_t column, int64_t width, int64_t vectors) {
  PackArgs args{panel.slot, {}};
  for (UOp r : panel.reduceAxes) args.axes.push_back(c.numberOf(idOf(r)));
  args.axes.push_back(c.numberOf(column));
  c.apply(OptKind::Pack, args, "rows that are far apart in memory, copied once for all row tiles");
  vectorizeFill(c, panel.slot, width, vectors);
}

}  // namespace svod
