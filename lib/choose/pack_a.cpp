#include "choose/pack_a.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

namespace {

// Blocks of results there are without those of rows and columns.
int64_t blocksBesides(const Chooser& c, const Lanes& lanes, const RegisterTile& tile) {
  int64_t others = 1;
  for (const Axis& axis : c.facts().axes)
    if (const UOp r = axis.range; axis.nest == Nest::Output && r != lanes.range && r != tile.rowAxis)
      others *= maxExtent(r);
  return others;
}

// As many rows as make enough blocks for the workers, and no more than the copy has room for; few blocks, because each
// copies the columns of the other operand again. Nothing where there is room for so few that this takes more than it
// saves.
std::optional<int64_t> rowsOfCopy(const Chooser& c, const Lanes& lanes, const RegisterTile& tile, int64_t most) {
  const int64_t rows = maxExtent(tile.rowAxis), shares = c.caps.threads && c.caps.workers > 1 ? 2 * c.caps.workers : 1;
  if (most < std::min(parameters::kLeastVectors * lanes.width, rows)) return {};
  const int64_t others = blocksBesides(c, lanes, tile);
  const int64_t wholeTiles = roundUp(most, tile.rows);
  const int64_t block = std::min(wholeTiles, std::max(parameters::kFewestRows, ceilDiv(rows * others, shares)));
  const int64_t even = ceilDiv(rows, ceilDiv(rows, block));
  return roundUp(even, tile.rows);
}

}  // namespace

std::optional<RowPanel> rowPanelOf(const Chooser& c, UOp reduce, const Lanes& lanes, const RegisterTile& tile,
                                   int64_t terms, int64_t mostBytes) {
  if (reduce.srcCount() != 2 || !tile.rowAxis || !constExtent(tile.rowAxis) || !constExtent(reduce.src(1))) return {};
  const int64_t depth = maxExtent(reduce.src(1));
  const int64_t columns = tile.vectors * lanes.width, columnTiles = maxExtent(lanes.range) / columns;
  if (columnTiles < parameters::kWorthTurning) return {};
  const int64_t nearest = c.caps.l1Bytes / 4 * 3;
  const bool linesStay = depth * c.caps.lineBytes <= nearest;  // what one row tile touches, for the next one
  const std::vector<Access> all = c.facts().accesses;
  for (const Access& a : all) {
    if (!a.slot || a.isStore || a.node.dependsOn(lanes.range) || strideOf(a, tile.rowAxis) != 1) continue;
    const int64_t bytes = byteSize(a.node.dtype());
    if (strideOf(a, reduce.src(1)).value_or(0) * bytes < c.caps.lineBytes) continue;
    const int64_t matrix = maxExtent(tile.rowAxis) * depth * bytes;
    const bool isNear = matrix <= residentBytes(c.caps), staysNearest = matrix + depth * columns * bytes <= nearest;
    if (isNear ? staysNearest || columnTiles < parameters::kWorthTurningNear : linesStay) continue;
    if (c.isLaidOut(*a.slot) || std::ranges::count(all, a.slot, &Access::slot) != 1) continue;
    const int64_t most = mostBytes / (terms * bytes);
    const std::optional<int64_t> rows = rowsOfCopy(c, lanes, tile, most);
    // What is near is turned once for all columns, or not at all.
    const bool isOnce = rows && *rows >= maxExtent(tile.rowAxis) && blocksBesides(c, lanes, tile) == 1;
    if (rows && (!isNear || isOnce)) return RowPanel{*a.slot, *rows};
  }
  return {};
}

bool packAcross(Chooser& c, uint32_t slot, uint32_t row, uint32_t depth, int64_t width) {
  const PackArgs args{slot, {c.numberOf(row), c.numberOf(depth)}};
  if (!c.apply(OptKind::Pack, args, "a line of it holds one term of each row: turned once, terms are neighbours"))
    return false;
  vectorizePanel(c, slot, width, 1);
  return true;
}

}  // namespace svod
