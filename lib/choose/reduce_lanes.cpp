#include "choose/reduce_lanes.h"

#include "cost/parameters.h"
#include "cost/register_tile.h"

namespace svod {

void tileReduceLanes(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  RegisterTile tile = bestRegisterTile(c.facts(), c.caps, c.laidOut(), nest.reduce, lanes, parameters::kChains);
  if (tile.rowAxis) c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows, toText(tile, c.caps));
  constexpr const char* kLanesWhy = "the reduction walks memory in order; lanes are folded at its end";
  if (!c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, kLanesWhy) || tile.vectors < 2) return;
  c.apply(OptKind::Acc, idOf(lanes.range), tile.vectors, "independent sums hide the latency of one");
}

}  // namespace svod
