#include "choose/k_block.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "choose/pack_a.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "cost/register_tile.h"
#include "facts/products.h"

namespace svod {

namespace {

constexpr const char *kTaskColumns = "as few columns as one thread should walk",
                     *kColumnLanes = "columns are neighbours in the matrix and in the result";

// Columns that one task computes: whole tiles of `columns`, and no short runs of memory. Few tasks, because each reads
// the other operand again.
int64_t columnsPerTask(const Chooser& c, int64_t extent, int64_t columns, int64_t fewest) {
  int64_t tasks = c.caps.threads ? c.caps.workers : 1;
  int64_t each = std::max(ceilDiv(extent, tasks), fewest);
  return roundUp(each, columns);
}

}  // namespace

// y[n] (+)= x[k] * B[k, n] for a few k at a time, along whole rows of B: as many streams as the prefetchers follow.
bool blockFewRows(Chooser& c, const LoopNest& nest) {
  using parameters::kStreams;
  const Lanes& lanes = nest.lanes;
  const std::optional<MatrixProduct> found = productOf(c.facts(), c.caps, c.laidOut(), nest.reduce, lanes.range);
  if (!found) return false;
  const MatrixProduct& p = *found;
  int64_t columns = maxExtent(lanes.range), matrix = p.depth * columns * p.elementBytes();
  if (p.rows > parameters::kMostFewRows || p.depth % kStreams != 0 || p.depth < 8 * kStreams ||
      columns < 4 * lanes.width)
    return false;
  if (matrix < residentBytes(c.caps)) return false;
  uint32_t k = idOf(p.k), column = idOf(lanes.range);
  if (!c.apply(OptKind::Tile, k, kStreams, "as many rows of the matrix at a time as prefetchers follow")) return false;
  uint32_t inBlock = idOf(c.inner());
  column = c.innerOfTile(column, columnsPerTask(c, columns, 2 * lanes.width, parameters::kRun), kTaskColumns);
  for (UOp row : p.rowAxes)
    if (maxExtent(row) > 1 && !c.apply(OptKind::Upcast, idOf(row), 0, "every row uses what was loaded")) return false;
  if (p.rows == 1) c.apply(OptKind::Unroll, inBlock, 0, "one load for each of those rows per step");
  if (!c.apply(OptKind::Vector, column, lanes.width, kColumnLanes)) return false;
  c.apply(OptKind::Upcast, column, 2, "two vectors per step");
  return c.apply(OptKind::KBlock, AxisList{{c.numberOf(k), c.numberOf(column)}},
                 "sums wait in memory, so that the matrix is read in long runs");
}

// Columns of a panel that is too tall for the cache, block by block of its rows.
bool blockTallPanel(Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  const std::optional<MatrixProduct> found = productOf(c.facts(), c.caps, c.laidOut(), reduce, lanes.range);
  if (!found) return false;
  const MatrixProduct& p = *found;
  RegisterTile tile = bestRegisterTile(c.facts(), c.caps, c.laidOut(), reduce, lanes, INT64_MAX);
  int64_t columns = tile.vectors * lanes.width, extent = maxExtent(lanes.range);
  if (!tile.rowAxis || p.rowAxes.size() != 1 || tile.rowAxis != p.rowAxes[0] || extent <= columns) return false;
  if (p.depth * columns * p.elementBytes() <= residentBytes(c.caps) || p.rows < parameters::kWorthBlocks * tile.rows)
    return false;
  int64_t depth =
      divisorWithin(p.depth, parameters::kLeastDepth, residentBytes(c.caps) / 4 / (columns * p.elementBytes()));
  if (depth == 0) return false;
  const int64_t stay = residentBytes(c.caps);  // of one block of the other operand
  const std::optional<RowPanel> across =
      rowPanelOf(c, reduce, lanes, tile, depth, std::min(stay, c.caps.scratchBytes / 2));
  const bool rowsStay = across || p.rows * depth * p.elementBytes() <= stay;
  const uint32_t k = idOf(p.k), rows = idOf(tile.rowAxis), outer = idOf(lanes.range);
  if (!c.apply(OptKind::Tile, k, depth, "a whole panel would not stay in the second level cache")) return false;
  const uint32_t inBlock = idOf(c.inner());
  const uint32_t row = across ? c.innerOfTile(rows, across->rows, kSharedCopy) : rows;
  const int64_t walked = rowsStay ? columnsPerTask(c, extent, columns, 2 * columns) : extent;
  const uint32_t task = c.innerOfTile(outer, walked, kTaskColumns);
  const uint32_t column = c.innerOfTile(task, columns, "the columns of one panel");
  AxisList order;
  for (uint32_t id : {row == rows ? outer : rows, outer, task, row, column})
    if (std::ranges::find(order.axes, c.numberOf(id), &AxisRef::number) == order.axes.end())
      order.axes.push_back(c.numberOf(id));
  if (!std::ranges::is_sorted(order.axes) && !c.apply(OptKind::Order, order, "a block of columns serves all rows"))
    return false;
  if (!c.isLaidOut(*p.matrix.slot)) {
    PackArgs pack{*p.matrix.slot, {c.numberOf(inBlock), c.numberOf(column)}};
    if (!c.apply(OptKind::Pack, pack, "a block of the panel is copied once and serves all rows")) return false;
    vectorizePanel(c, *p.matrix.slot, lanes.width, tile.vectors);
  }
  if (across && !packAcross(c, across->slot, row, inBlock, lanes.width)) return false;
  c.apply(OptKind::Upcast, row, tile.rows, toText(tile, c.caps));
  if (!c.apply(OptKind::Vector, column, lanes.width, kColumnLanes)) return false;
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors, toText(tile, c.caps));
  AxisList closed{{c.numberOf(k)}};
  if (rowsStay) closed.axes.push_back(c.numberOf(task));
  closed.axes.push_back(c.numberOf(row));
  return c.apply(OptKind::KBlock, closed, "sums wait in memory while the blocks pass");
}

}  // namespace svod
