#include "cost/filter_tile.h"

#include <algorithm>

#include "cost/levels.h"
#include "cost/parameters.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

double cyclesOfTurn(const FilterTile& t, const FilterLoops& loops, const Caps& caps) {
  const double products = static_cast<double>(t.vectors * t.columns) / caps.fmaPerCycle,
               loads = static_cast<double>(t.vectors + t.columns) / kSlideLoads,
               weights = static_cast<double>(t.vectors * caps.vectorBytes);
  const bool stay = fits(Level::L2, weights * static_cast<double>(loops.taps), caps);
  const double moving = weights / (stay ? kWeightsFromL2 : kWeightsFromBeyond);
  const double longest = std::max({products, loads, moving});
  return longest + kSlideOverlap * (products + loads + moving - longest) + kSlideTurn;
}

}  // namespace

std::optional<FilterTile> bestFilterTile(const FilterLoops& loops, const Caps& caps) {
  std::optional<FilterTile> found;
  double least = 0;
  for (FilterTile t{ceilDiv(loops.filters, loops.lanes)}; t.vectors >= 1; --t.vectors)
    for (t.columns = std::min<int64_t>(loops.columns, caps.vectorRegisters); t.columns >= 1; --t.columns) {
      if (t.vectors * t.columns + t.vectors + caps.vectorRegisters / kSlideOthers > caps.vectorRegisters) continue;
      const int64_t turns = ceilDiv(loops.filters, t.vectors * loops.lanes) * ceilDiv(loops.columns, t.columns);
      const double cycles = static_cast<double>(turns) * cyclesOfTurn(t, loops, caps);
      if (!found || cycles < least) found = t, least = cycles;
    }
  return found;
}

}  // namespace svod
