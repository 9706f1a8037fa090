#include "choose/stream_lanes.h"

#include "cost/cost.h"
#include "cost/parameters.h"

namespace svod {

void widenStreams(Chooser& c, const LoopNest& nest) {
  const Lanes& lanes = nest.lanes;
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "along this loop it takes the fewest instructions");
  double weight = 0;
  for (UOp n : c.facts().nodes) weight += n.dependsOn(c.range(idOf(lanes.range))) ? opWeight(n) : 0;
  std::optional<int64_t> extent = constExtent(lanes.range);
  if (!extent || *extent % lanes.width != 0 || weight > parameters::kCheapBody) return;
  for (int64_t n : {4, 2})
    if (*extent / lanes.width % n == 0 && *extent / lanes.width / n >= 4 &&
        c.apply(OptKind::Upcast, idOf(lanes.range), n, "a cheap body: several vectors per step"))
      return;
}

}  // namespace svod
