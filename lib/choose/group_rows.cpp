#include "choose/group_rows.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

namespace {

// n where the address depends on the loop through its counter divided by n alone; 0 for any other address.
int64_t groupOf(UOp address, UOp loop) {
  int64_t group = 0;
  for (UOp n : toposort(address)) {
    if (std::ranges::find(n.src(), loop) == n.src().end()) continue;
    const bool divides = (n.op() == Op::Floordiv || n.op() == Op::Cdiv) && n.src(0) == loop && n.src(1).isConst();
    if (!divides || (group != 0 && group != n.src(1).constInt())) return 0;
    group = n.src(1).constInt();
  }
  return group;
}

}  // namespace

void splitGroups(Chooser& c) {
  for (const Access& a : c.facts().accesses)
    for (const Axis& axis : c.facts().axes) {
      const int64_t group = axis.nest == Nest::Output && !a.isStore ? groupOf(a.address, axis.range) : 0;
      const std::optional<int64_t> extent = constExtent(axis.range);
      if (group >= parameters::kLeastGroup && extent && *extent > group && *extent % group == 0)
        c.apply(OptKind::Tile, idOf(axis.range), group, "rows of a group read the same");
    }
  c.given = c.sink;
}

}  // namespace svod
