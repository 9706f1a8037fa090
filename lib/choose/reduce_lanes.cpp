#include "choose/reduce_lanes.h"

#include "cost/parameters.h"
#include "cost/register_tile.h"
#include "support/integers.h"

namespace svod {

namespace {

/// Copies of its sum that the register tile of another reduction made: they are independent as well.
int64_t copiesOf(UOp reduce) {
  int64_t copies = 1;
  for (UOp r : reduce.src(0).ranges())
    if (axisType(r) == AxisType::Upcast) copies *= r.src(0).constInt();
  return copies;
}

}  // namespace

void tileReduceLanes(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  RegisterTile tile = bestRegisterTile(c.facts(), c.caps, c.laidOut(), nest.reduce, lanes, parameters::kChains);
  if (tile.rowAxis) c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows, toText(tile, c.caps));
  constexpr const char* kLanesWhy = "the reduction walks memory in order; lanes are folded at its end";
  if (!c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, kLanesWhy)) return;
  const int64_t sums = ceilDiv(tile.vectors, copiesOf(nest.reduce));
  if (sums > 1) c.apply(OptKind::Acc, idOf(lanes.range), sums, "independent sums hide the latency of one");
}

}  // namespace svod
