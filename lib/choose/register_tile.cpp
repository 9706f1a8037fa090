#include "choose/register_tile.h"

#include <algorithm>

#include "choose/laid_out.h"
#include "cost/parameters.h"
#include "facts/local_buffers.h"

namespace svod {

RegisterTile chooseRegisterTile(const Chooser& c, UOp reduce, const Lanes& lanes, int64_t maxVectors, UOp held) {
  const KernelFacts& kernel = c.facts();
  const RegisterTileCost cost(kernel, c.caps, reduce, lanes, laidOutSlots(c));
  std::vector<UOp> rowAxes{UOp()};
  for (const auto& [range, nest] : kernel.axes)
    if (nest != Nest::Reduce && range != lanes.range && reduce.src(0).dependsOn(range) &&
        axisType(range) == AxisType::Loop && maxExtent(range) > 1 && (range == held || !fillsStage(kernel, range)) &&
        cost.isReusedAlong(range))
      rowAxes.push_back(range);
  std::vector<RegisterTile> tiles;
  for (int64_t vectors : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16})
    for (UOp axis : rowAxes)
      for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
        if ((rows > 1) == static_cast<bool>(axis) && vectors <= maxVectors) tiles.push_back({axis, rows, vectors});
  // From small to large, of one size those with more rows first.
  std::ranges::stable_sort(tiles, {}, [](const RegisterTile& t) { return std::pair(t.rows * t.vectors, -t.rows); });
  RegisterTile best;
  double least = cost.cycles(best);
  for (const RegisterTile& tile : tiles) {
    if (!cost.fits(tile)) continue;
    if (double other = cost.cycles(tile); other < parameters::kClearlyCheaper * least) best = tile, least = other;
  }
  return best;
}

std::string registersText(const Chooser& c, const RegisterTile& tile) {
  return std::to_string(tile.rows) + " x " + std::to_string(tile.vectors) + " results in " +
         std::to_string(c.caps.vectorRegisters) + " registers share what they load";
}

}  // namespace svod
