#include "choose/thread_tiles.h"

#include <algorithm>
#include <cmath>

#include "cost/cost.h"
#include "cost/parameters.h"
#include "cost/thread_tiles.h"

namespace svod {

void splitForThreads(Chooser& c) {
  const double work = nanoseconds(CostModel(c.facts(), c.caps).instructions());
  if (!c.caps.threads || work < parameters::kWorthThreads) return;
  const std::string why = "about " + std::to_string(std::llround(work / 1000)) + " us of work to share";
  const int64_t wanted =
      std::max(static_cast<int64_t>(c.caps.workers) * parameters::kTilesPerWorker, parameters::kLeastTiles);
  for (int64_t tiles = 1; tiles < wanted;) {
    std::vector<Axis> axes = c.facts().axes;  // after the first thread axis the next is the outermost loop left
    auto at = std::ranges::find_if(axes, [](const Axis& a) {
      return a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && maxExtent(a.range) > 1;
    });
    if (at == axes.end()) return;
    int64_t extent = maxExtent(at->range), iterations = iterationsPerTile(c.facts(), c.caps, at->range, tiles);
    if (iterations == 0) return;
    if (!c.apply(OptKind::Thread, AxisAmount{static_cast<int32_t>(at - axes.begin()), iterations}, why)) return;
    tiles *= ceilDiv(extent, iterations);
    if (iterations > 1) return;
  }
}

}  // namespace svod
