#include "choose/transpose_blocks.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/accesses.h"
#include "support/integers.h"

namespace svod {

namespace {

/// Iterations of a loop along which what a load reads lies next to what the one before reads, whose lanes are turned
/// together; 0: none. Loads under windows (the tiles of a Winograd transform) share most of it.
int64_t rowsOfBlock(const Chooser& c, const Access& load, UOp loop, const Lanes& lanes) {
  constexpr int64_t kLeastRows = 4;
  const int64_t stride = strideOf(load, loop).value_or(0);
  if (stride == 1) {
    const int64_t rows = powerBelow(std::min(lanes.width, maxExtent(loop)));
    return rows < kLeastRows ? 0 : rows;
  }
  const auto isWindow = [&](const Access& other) {
    return !other.isStore && other.slot == load.slot && other.address != load.address;
  };
  const int64_t tiles = maxExtent(loop), turned = roundUp(tiles, parameters::kTurnedTiles);
  const bool areWhole = static_cast<double>(turned) <= parameters::kRepeated * static_cast<double>(tiles);
  const bool isNear = stride > 1 && stride < lanes.width && tiles > 1 && areWhole;
  return isNear && std::ranges::any_of(c.facts().accesses, isWindow) ? parameters::kTurnedTiles : 0;
}

}  // namespace

void blockTransposed(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "results are stored along their lines");
  for (const Access& a : c.facts().accesses)
    for (const Axis& axis : c.facts().axes) {
      if (a.isStore || axis.nest != Nest::Output || idOf(axis.range) == idOf(lanes.range)) continue;
      const int64_t rows = rowsOfBlock(c, a, axis.range, lanes);
      if (rows < 2 || !c.apply(OptKind::Upcast, idOf(axis.range), rows, "blocks are transposed in registers")) continue;
      if (strideOf(a, axis.range) != 1) return;  // windows
      // Loads run on along their lines, whole lines are stored.
      int32_t load = c.numberOf(idOf(axis.range)), store = c.numberOf(idOf(lanes.range));
      if (load < store) c.apply(OptKind::Order, AxisList{{store, load}}, "loads go on along their lines");
      return;
    }
}

}  // namespace svod
