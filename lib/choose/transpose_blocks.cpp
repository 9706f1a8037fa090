#include "choose/transpose_blocks.h"

#include <algorithm>

#include "facts/accesses.h"

namespace svod {

void blockTransposed(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "results are stored along their lines");
  for (const Access& a : c.facts().accesses)
    for (const Axis& axis : c.facts().axes) {
      bool along = !a.isStore && axis.nest == Nest::Output && strideOf(a, axis.range) == 1 &&
                   idOf(axis.range) != idOf(lanes.range);
      int64_t rows = powerBelow(std::min(lanes.width, maxExtent(axis.range)));
      if (!along || rows < 4 || !c.apply(OptKind::Upcast, idOf(axis.range), rows, "blocks are transposed in registers"))
        continue;
      // Loads run on along their lines, whole lines are stored.
      int32_t load = c.numberOf(idOf(axis.range)), store = c.numberOf(idOf(lanes.range));
      if (load < store) c.apply(OptKind::Order, AxisList{{store, load}}, "loads go on along their lines");
      return;
    }
}

}  // namespace svod
