#include "choose/tile_units.h"

#include <algorithm>

#include "choose/pack_b.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/panels.h"
#include "facts/reduces.h"
#include "opts/tile_unit_opt.h"

namespace svod {

namespace {

/// Tiles of the result that are summed up at once: each needs a register, and so does what they load.
struct TileBlock {
  int64_t rows, columns;
};

/// Two by two tiles load the least for each product. Few rows share what they load with more columns, and the reverse.
TileBlock blockOf(const TileUnit& unit, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 2, kLine = 3;
  const int64_t down = rows / unit.m, across = columns / unit.n;
  if (down >= kSide && across >= kSide) return {kSide, kSide};
  return {std::min(down, kLine), std::min(across, kLine)};
}

/// The longest loop over rows that the matrix with the lanes does not depend on; null where there is none.
UOp rowsOf(const KernelFacts& kernel, UOp reduce, UOp columns, int64_t least) {
  UOp longest;
  for (const auto& [range, nest] : kernel.axes) {
    const bool isOutput = nest == Nest::Output && range != columns && axisType(range) == AxisType::Loop;
    if (!isOutput || !reduce.src(0).dependsOn(range) || constExtent(range).value_or(0) < least) continue;
    if (!longest || maxExtent(range) > maxExtent(longest)) longest = range;
  }
  return longest;
}

/// Columns of one panel, whole blocks of them: as many as stay in the second level cache while all rows pass.
int64_t columnsOf(const Panel& panel, int64_t block, const Caps& caps) {
  return std::max(block, residentBytes(caps) / panel.bytesPerColumn / block * block);
}

bool multiply(Chooser& c, const LoopNest& nest, uint32_t number, bool areShared) {
  const TileUnit& unit = *c.caps.tiles[number];
  const UOp columns = nest.lanes.range, rows = rowsOf(c.facts(), nest.reduce, columns, unit.m);
  if (!rows || maxExtent(columns) < unit.n) return false;
  const std::optional<Panel> panel = panelForRows(c.facts(), nest.reduce, columns, rows, c.laidOut(), nest.packed);
  if (!panel || panel->reduceAxes.size() != 1) return false;
  if (!fillsTiles(panel->reduceAxes[0], 1, rows, unit)) return false;
  const TileBlock block = areShared ? blockOf(unit, maxExtent(rows), maxExtent(columns)) : TileBlock{1, 1};
  const uint32_t row = idOf(rows), terms = idOf(panel->reduceAxes[0]);
  const uint32_t column = splitColumns(c, idOf(columns), row, columnsOf(*panel, block.columns * unit.n, c.caps));
  if (!c.isLaidOut(panel->slot)) packPanel(c, *panel, column, unit.n, block.columns);
  const CoreAxes axes{number, c.numberOf(row), c.numberOf(column), c.numberOf(terms)};
  const std::string shape = std::to_string(block.rows) + " x " + std::to_string(block.columns);
  if (!c.apply(OptKind::Tc, axes, "one instruction multiplies whole tiles")) return false;
  if (block.rows > 1) c.apply(OptKind::Upcast, row, block.rows, shape + " tiles of results share what they load");
  if (block.columns > 1)
    c.apply(OptKind::Upcast, column, block.columns, shape + " tiles of results share what they load");
  return haveConstantsInOrder(c);
}

}  // namespace

bool multiplyInTiles(Chooser& c, const LoopNest& nest) {
  if (!sumsGroups(nest.reduce)) return false;
  for (uint32_t number = 0; number < c.caps.tiles.size(); ++number)
    for (const bool areShared : {true, false})
      if (attempt(c, [&](Chooser& trial) { return multiply(trial, nest, number, areShared); })) return true;
  return false;
}

bool fillsTiles(UOp groups, int64_t taps, UOp rows, const TileUnit& unit) {
  const int64_t step = groupsOfStep(groups.src(0), unit);
  if (step == 0 || step == unit.groups) return step > 0;
  const bool areSeveral = maxExtent(groups) / step * taps >= parameters::kFewestTileSteps;
  return step >= parameters::kFewestTileGroups && areSeveral && constExtent(rows).value_or(0) % unit.m == 0;
}

bool haveConstantsInOrder(const Chooser& c) {
  return std::ranges::all_of(c.facts().accesses, [&](const Access& a) {
    const bool isConstant =
        a.slot && !a.isStore && std::ranges::find(c.caps.constants, *a.slot) != c.caps.constants.end();
    return !isConstant || byteSize(a.node.dtype()) >= 4 || c.isLaidOut(*a.slot);
  });
}

}  // namespace svod
