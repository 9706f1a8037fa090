#include "choose/k_block.h"

#include <algorithm>

#include "choose/laid_out.h"
#include "choose/pack_a.h"
#include "choose/pack_b.h"
#include "choose/register_tile.h"
#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

namespace {

// The axes of a matrix product (or of a few rows times a matrix): the operand with the lanes is `matrix`.
struct Product {
  UOp k;          // the one loop of the reduce
  int64_t depth;  // its extent
  Access matrix;
  std::vector<UOp> rowAxes;  // output loops the matrix does not depend on
  int64_t rows = 1;
};

std::optional<Product> productOf(const Chooser& c, UOp reduce, const Lanes& lanes) {
  if (reduce.srcCount() != 2 || axisType(reduce.src(1)) != AxisType::Reduce || reduce.src(0).op() != Op::Mul) return {};
  std::optional<int64_t> depth = constExtent(reduce.src(1));
  if (!depth || !constExtent(lanes.range) || !mayReassociate(c.caps, reduce.dtype())) return {};
  Product p{reduce.src(1), *depth, {}, {}};
  std::vector<Access> wide;
  for (const Access& a : c.facts().accesses) {
    if (!a.slot) return {};
    if (!a.isStore && a.node.dependsOn(lanes.range) && a.node.dependsOn(p.k)) wide.push_back(a);
  }
  if (wide.size() != 1 || (strideOf(wide[0], lanes.range) != 1 && !isLaidOut(c, *wide[0].slot))) return {};
  p.matrix = wide[0];
  for (const Axis& axis : c.facts().axes) {
    if (axis.nest != Nest::Output || axis.range == lanes.range || p.matrix.node.dependsOn(axis.range)) continue;
    if (!constExtent(axis.range) || axisType(axis.range) != AxisType::Loop) return {};
    if (!reduce.dependsOn(axis.range)) continue;
    p.rowAxes.push_back(axis.range), p.rows *= maxExtent(axis.range);
  }
  return p;
}

int64_t bytesOf(const Product& p) { return byteSize(p.matrix.node.dtype()); }

// The largest divisor of n that is at most `most`.
int64_t divisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

constexpr const char *kTaskColumns = "as few columns as one thread should walk",
                     *kColumnLanes = "columns are neighbours in the matrix and in the result";

// Columns that one task computes: whole tiles of `columns`, and no short runs of memory. Few tasks, because each reads
// the other operand again.
int64_t columnsPerTask(const Chooser& c, int64_t extent, int64_t columns, int64_t fewest) {
  int64_t tasks = c.caps.threads ? c.caps.workers : 1;
  int64_t each = std::max(ceilDiv(extent, tasks), fewest);
  return roundUp(each, columns);
}

// y[n] (+)= x[k] * B[k, n] for a few k at a time, along whole rows of B: as many streams as the prefetchers follow.
bool fewRows(Chooser& c, const Product& p, const Lanes& lanes) {
  using parameters::kStreams;
  int64_t columns = maxExtent(lanes.range), matrix = p.depth * columns * bytesOf(p);
  if (p.rows > parameters::kMostFewRows || p.depth % kStreams != 0 || p.depth < 8 * kStreams ||
      columns < 4 * lanes.width)
    return false;
  if (matrix < c.caps.l2Bytes / 2) return false;
  uint32_t k = idOf(p.k), column = idOf(lanes.range);
  if (!c.apply(OptKind::Tile, k, kStreams, "as many rows of the matrix at a time as prefetchers follow")) return false;
  uint32_t inBlock = idOf(c.inner());
  column = innerOfTile(c, column, columnsPerTask(c, columns, 2 * lanes.width, parameters::kRun), kTaskColumns);
  for (UOp row : p.rowAxes)
    if (maxExtent(row) > 1 && !c.apply(OptKind::Upcast, idOf(row), 0, "every row uses what was loaded")) return false;
  if (p.rows == 1) c.apply(OptKind::Unroll, inBlock, 0, "one load for each of those rows per step");
  if (!c.apply(OptKind::Vector, column, lanes.width, kColumnLanes)) return false;
  c.apply(OptKind::Upcast, column, 2, "two vectors per step");
  return c.apply(OptKind::KBlock, AxisList{{c.numberOf(k), c.numberOf(column)}},
                 "sums wait in memory, so that the matrix is read in long runs");
}

// Columns of a panel that is too tall for the cache, block by block of its rows.
bool tallPanel(Chooser& c, UOp reduce, const Product& p, const Lanes& lanes) {
  RegisterTile tile = chooseRegisterTile(c, reduce, lanes, INT64_MAX);
  int64_t columns = tile.vectors * lanes.width, extent = maxExtent(lanes.range);
  if (!tile.rowAxis || p.rowAxes.size() != 1 || tile.rowAxis != p.rowAxes[0] || extent <= columns) return false;
  if (p.depth * columns * bytesOf(p) <= c.caps.l2Bytes / 2 || p.rows < parameters::kWorthBlocks * tile.rows)
    return false;
  int64_t depth = divisorUpTo(p.depth, c.caps.l2Bytes / 8 / (columns * bytesOf(p)));
  if (depth < parameters::kLeastDepth) return false;
  const int64_t stay = c.caps.l2Bytes / 2;  // of one block of the other operand
  const std::optional<RowPanel> across =
      rowPanelOf(c, reduce, lanes, tile, depth, std::min(stay, c.caps.scratchBytes / 2));
  const bool rowsStay = across || p.rows * depth * bytesOf(p) <= stay;
  const uint32_t k = idOf(p.k), rows = idOf(tile.rowAxis), outer = idOf(lanes.range);
  if (!c.apply(OptKind::Tile, k, depth, "a whole panel would not stay in the second level cache")) return false;
  const uint32_t inBlock = idOf(c.inner());
  const uint32_t row = across ? innerOfTile(c, rows, across->rows, kSharedCopy) : rows;
  const int64_t walked = rowsStay ? columnsPerTask(c, extent, columns, 2 * columns) : extent;
  const uint32_t task = innerOfTile(c, outer, walked, kTaskColumns);
  const uint32_t column = innerOfTile(c, task, columns, "the columns of one panel");
  AxisList order;
  for (uint32_t id : {row == rows ? outer : rows, outer, task, row, column})
    if (std::ranges::find(order.axes, c.numberOf(id), &AxisRef::number) == order.axes.end())
      order.axes.push_back(c.numberOf(id));
  if (!std::ranges::is_sorted(order.axes) && !c.apply(OptKind::Order, order, kPanelOutside)) return false;
  if (!isLaidOut(c, *p.matrix.slot)) {
    PackArgs pack{*p.matrix.slot, {c.numberOf(inBlock), c.numberOf(column)}};
    if (!c.apply(OptKind::Pack, pack, "a block of the panel is copied once and serves all rows")) return false;
    vectorizeFill(c, *p.matrix.slot, lanes.width, tile.vectors);
  }
  if (across && !packAcross(c, across->slot, row, inBlock, lanes.width)) return false;
  c.apply(OptKind::Upcast, row, tile.rows, registersText(c, tile));
  if (!c.apply(OptKind::Vector, column, lanes.width, kColumnLanes)) return false;
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors, registersText(c, tile));
  AxisList closed{{c.numberOf(k)}};
  if (rowsStay) closed.axes.push_back(c.numberOf(task));
  closed.axes.push_back(c.numberOf(row));
  return c.apply(OptKind::KBlock, closed, "sums wait in memory while the blocks pass");
}

}  // namespace

bool blockFewRows(Chooser& c, const LoopNest& nest) {
  const std::optional<Product> p = productOf(c, nest.reduce, nest.lanes);
  return p && fewRows(c, *p, nest.lanes);
}

bool blockTallPanel(Chooser& c, const LoopNest& nest) {
  const std::optional<Product> p = productOf(c, nest.reduce, nest.lanes);
  return p && tallPanel(c, nest.reduce, *p, nest.lanes);
}

}  // namespace svod
