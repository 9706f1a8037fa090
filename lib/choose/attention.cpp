#include "choose/attention.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "choose/output_lanes.h"
#include "cost/cost.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "cost/register_tile.h"
#include "cost/row_blocks.h"
#include "facts/local_buffers.h"
#include "facts/row_kernel.h"

namespace svod {

namespace {

constexpr const char* kHoldWhy = "a line for each row of the block";

// Every local buffer that is filled row by row gets a dim for the rows of the block `loop` counts, those that fill
// others last.
bool holdBuffers(Chooser& c, uint32_t loop) {
  for (std::vector<uint32_t> loops{loop}; !loops.empty();) {
    UOp next;
    for (UOp fill : c.facts().fills)
      if (fill.dependsOn(c.range(loops.back()))) next = fill;  // what is filled from it comes later
    if (!next) {
      loops.pop_back();
      continue;
    }
    const UOp rows = c.range(loops.back());
    if (!c.apply(OptKind::Hold, AxisList{{c.numberOf(idOf(next.src(1))), c.numberOf(loops.back())}}, kHoldWhy))
      return false;
    loops.push_back(idOf(c.madeCopy(rows)));
  }
  return true;
}

// And so do reductions that each row of the result needs once.
bool holdSums(Chooser& c, uint32_t loop, uint32_t column) {
  for (UOp n : c.facts().reduces) {
    if (!n.dependsOn(c.range(loop)) || n.dependsOn(c.range(column))) continue;
    const AxisList held{{c.numberOf(idOf(n.src(1))), c.numberOf(loop)}};
    return c.apply(OptKind::Hold, held, kHoldWhy) && holdSums(c, loop, column);
  }
  return true;
}

// The operand of the score that differs from row to row is copied so that rows are neighbours.
bool packRows(Chooser& c, UOp score, UOp row, int64_t width) {
  for (const Access& a : c.facts().accesses) {
    if (a.isStore || !a.slot || !a.node.dependsOn(row) || !a.node.dependsOn(score.src(1))) continue;
    const uint32_t slot = *a.slot;
    PackArgs args{slot, {c.numberOf(idOf(score.src(1))), c.numberOf(idOf(row))}};
    if (!c.apply(OptKind::Pack, args, "rows become neighbours, once for all they are multiplied with")) return false;
    vectorizePanel(c, slot, width, 1);
    return true;
  }
  return false;
}

// Operands that meet the elements of the rows where those are computed (masks) and lie far apart from row to row: their
// blocks are copied so that rows are neighbours.
void packMasks(Chooser& c, UOp element, UOp row, int64_t width) {
  std::vector<uint32_t> slots;
  for (const Access& a : c.facts().accesses) {
    const bool isMask = !a.isStore && a.slot && a.node.dependsOn(row) && a.node.dependsOn(element);
    if (isMask && strideOf(a, row) != 1 && strideOf(a, element) == 1 && !c.isLaidOut(*a.slot)) slots.push_back(*a.slot);
  }
  if (slots.empty()) return;
  if (maxExtent(element) > parameters::kMaskBlock &&
      c.apply(OptKind::Tile, idOf(element), parameters::kMaskBlock, "a block of the mask at a time"))
    element = c.inner();
  for (uint32_t slot : slots) {
    const PackArgs args{slot, {c.numberOf(idOf(element)), c.numberOf(idOf(row))}};
    if (c.apply(OptKind::Pack, args, "rows become neighbours")) vectorizePanel(c, slot, width, 1);
  }
}

// The loops that fill the buffer, which hold made: elements of a row, then rows. Lanes run across rows.
bool tileFill(Chooser& c, UOp fill, int64_t width) {
  UOp row = fill.src().back();
  int64_t vectors = std::min(parameters::kSweepVectors, maxExtent(row) / width);
  if (scoreOf(fill)) {
    packMasks(c, fill.src(1), row, width);
    const UOp score = scoreOf(c.facts().closersOf(row)[0]);
    const RegisterTile tile =
        bestRegisterTile(c.facts(), c.caps, c.laidOut(), score, {row, width}, maxExtent(row) / width);
    if (!packRows(c, score, row, width)) return false;
    if (tile.rowAxis && !c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows, toText(tile, c.caps))) return false;
    vectors = tile.vectors;
  } else if (fill.srcCount() > 2) {
    const AxisList rowsOutside{{c.numberOf(idOf(row)), c.numberOf(idOf(fill.src(1)))}};
    if (!c.apply(OptKind::Order, rowsOutside, "what belongs to a row is computed once")) return false;
  }
  return c.apply(OptKind::Vector, idOf(row), width, "lanes across rows: nothing is folded") &&
         (vectors < 2 || c.apply(OptKind::Upcast, idOf(row), vectors, "vectors of several rows in one sweep"));
}

// Where the matrix, beside the rows, does not stay in the second level cache, each register tile would fetch it from
// further away: it is read in blocks that the first level cache keeps for all tiles. True when the loop over elements
// counts blocks now.
bool blockElements(Chooser& c, const Access& matrix, UOp result, UOp column) {
  const UOp element = result.src(1);
  const int64_t each = maxExtent(column) * byteSize(matrix.node.dtype()), block = powerBelow(c.caps.l1Bytes / each);
  if (!mayReassociate(c.caps, result.dtype()) || !constExtent(element) || block < 16 || maxExtent(element) < 4 * block)
    return false;
  if (bytesOfFills(c.facts()) + maxExtent(element) * each <= residentBytes(c.caps)) return false;
  return c.apply(OptKind::Tile, idOf(element), block, "a block of the matrix stays in the first level cache");
}

// The register tiles of the result: lanes along columns.
bool tileResult(Chooser& c, UOp result, uint32_t row, uint32_t column, int64_t width) {
  const std::optional<Access> matrix = matrixOf(c.facts(), result, c.range(column));
  const bool isAcross =
      matrix && strideOf(*matrix, c.range(column)) != 1;  // columns are no neighbours: copied for all rows
  const std::optional<uint32_t> packed = isAcross ? matrix->slot : std::nullopt;
  const uint32_t element = idOf(result.src(1));
  const bool inBlocks = matrix && !isAcross && blockElements(c, *matrix, result, c.range(column));
  const Lanes lanes{c.range(column), std::min(width, powerBelow(maxExtent(c.range(column))))};
  tileOutputLanes(c, {c.facts().closersOf(c.range(element))[0], lanes, packed});
  if (!inBlocks) return true;
  const AxisList sums{{c.numberOf(element), c.numberOf(row), c.numberOf(column)}};
  return c.apply(OptKind::KBlock, sums, "sums wait in memory while the blocks pass");
}

}  // namespace

bool blockRows(Chooser& c) {
  const RowKernel k = *rowKernelOf(c.facts());
  const int64_t width = CostModel(c.facts(), c.caps).fullWidth(k.row);
  const int64_t rows = rowsOfBlock(c.facts(), c.caps, c.laidOut(), k, width);
  if (rows < width) return false;
  uint32_t row = idOf(k.row);
  const uint32_t column = idOf(k.column);
  AxisList rowsInside;
  for (UOp loop : k.between) rowsInside.axes.push_back(c.numberOf(idOf(loop)));
  rowsInside.axes.push_back(c.numberOf(row));
  if (!k.between.empty() && !c.apply(OptKind::Order, rowsInside, "rows that share what the products read"))
    return false;
  if (rows < maxExtent(k.row)) {
    if (!c.apply(OptKind::Tile, row, rows, "rows at a time that share what the products read")) return false;
    row = idOf(c.inner());
  }
  if (!holdBuffers(c, row) || !holdSums(c, row, column)) return false;
  std::vector<uint32_t> blocks;  // the loops over rows that fill buffers
  for (UOp fill : c.facts().fills) blocks.push_back(idOf(fill.src().back()));
  for (uint32_t block : blocks)
    if (!tileFill(c, c.facts().closersOf(c.range(block))[0], width)) return false;
  const UOp result = resultOver(c.facts(), c.range(column));
  return result && tileResult(c, result, row, column, width);
}

}  // namespace svod
