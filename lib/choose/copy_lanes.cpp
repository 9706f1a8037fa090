#include "choose/copy_lanes.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/reduces.h"

namespace svod {

namespace {

constexpr const char* kCopyLanes = "the copy runs in whole vectors";

// Groups of a dot product: rows are interleaved, where columns are neighbours in the operand; else groups are copied.
bool fillGroups(Chooser& c, const Access& load) {
  std::vector<Axis> axes = c.facts().axes;
  if (axes.size() < 2 || axes.back().nest != Nest::Fill) return false;
  const UOp group = axes.back().range, column = axes[axes.size() - 2].range;
  const uint32_t groupId = idOf(group), columnId = idOf(column);
  const int64_t lanes = parameters::kShuffleBytes / byteSize(load.node.dtype());
  if (const int64_t stride = strideOf(load, column).value_or(0); stride >= 1 && stride <= parameters::kNearLanes)
    c.apply(OptKind::Vector, columnId, std::min<int64_t>(lanes, powerBelow(maxExtent(column))), kCopyLanes);
  return c.apply(OptKind::Upcast, groupId, 0, "the copy interleaves what one instruction sums up");
}

}  // namespace

// Where lanes of the panel are not neighbours in the operand, a block of as many rows is transposed in registers.
void vectorizePanel(Chooser& c, uint32_t slot, int64_t width, int64_t vectors) {
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

void vectorizeWindows(Chooser& c, uint32_t slot) {
  for (const Access& a : c.facts().accesses) {
    if (a.slot != slot || a.isStore) continue;
    std::vector<Axis> axes = c.facts().axes;
    const Axis& last = axes.back();
    if (hasGroups(c.facts())) {
      fillGroups(c, a);
      return;
    }
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
