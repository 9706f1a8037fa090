#include "choose/attention.h"

#include <algorithm>
#include <cmath>

#include "choose/laid_out.h"
#include "choose/nest_strategies.h"
#include "choose/pack_b.h"
#include "choose/register_tile.h"
#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/local_buffers.h"
#include "facts/patterns.h"
#include "opts/legality.h"

namespace svod {

namespace {

constexpr const char *kHoldWhy = "a line for each row of the block",
                     *kAcrossWhy = "lanes across rows: nothing is folded";

bool isProduct(UOp n) { return sumsProducts(n) && n.srcCount() == 2; }  // along one loop

// The kernel as the scheduler makes it.
struct RowKernel {
  UOp row, column;           // output loops: local buffers depend on the first, only the result on the second
  std::vector<UOp> between;  // loops inside of `row` that buffers depend on as well
  UOp result, score;         // products: elements of the result, elements of a row
};

// Whether an operand of the product is the same in all iterations of `loop`.
bool readsAgain(UOp product, UOp loop) {
  return std::ranges::any_of(toposort(product), [&](UOp n) {
    return n.op() == Op::Load && n.dependsOn(product.src(1)) && !n.dependsOn(loop);
  });
}

std::optional<RowKernel> rowKernelOf(const KernelFacts& kernel) {
  const std::vector<UOp> stages = kernel.stages;
  RowKernel k;
  std::vector<UOp> outer;
  for (const Axis& axis : kernel.axes) {
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop) continue;
    const bool isOutside = std::ranges::all_of(stages, [&](UOp s) { return s.dependsOn(axis.range); });
    if (isOutside && !k.column)
      outer.push_back(axis.range);
    else
      k.column = axis.range;
  }
  if (stages.empty() || !k.column || fillsStage(kernel, k.column)) return std::nullopt;
  for (UOp n : kernel.reduces)
    if (isProduct(n)) (n.dependsOn(k.column) ? k.result : k.score) = n;
  if (!k.result || !k.score) return std::nullopt;
  for (; !outer.empty(); outer.pop_back()) {
    if (readsAgain(k.score, outer.back())) {
      k.row = outer.back();
      return k;
    }
    k.between.insert(k.between.begin(), outer.back());
  }
  return std::nullopt;
}

// How much more is computed than is needed when `extent` goes in steps of `part`.
double excess(int64_t extent, int64_t part) {
  return static_cast<double>(roundUp(extent, part)) / static_cast<double>(extent);
}

int64_t bytesOfStages(const Chooser& c) {
  int64_t bytes = 0;
  for (UOp s : c.facts().stages) bytes += stageBytes(s);
  return bytes;
}

// Rows of a block: whole vectors, few beyond the last row, the last register tile of the result and that of the rows'
// product, and what the second level cache has room for. 0 for fewer rows than lanes.
int64_t rowsOfBlock(const Chooser& c, const RowKernel& k, int64_t width) {
  const int64_t bytes = bytesOfStages(c);
  int64_t best = 0;
  const RegisterTile tile = chooseRegisterTile(c, k.result, {k.column, width}, INT64_MAX, k.row);
  double least = INFINITY;
  for (int64_t vectors = 1; vectors * width <= std::min(parameters::kMostBlockRows, maxExtent(k.row)); ++vectors) {
    const int64_t rows = vectors * width;
    if (rows * bytes > c.caps.l2Bytes && best > 0) break;
    const double cost = excess(maxExtent(k.row), rows) * excess(rows, tile.rowAxis == k.row ? tile.rows : 1) *
                        excess(vectors, chooseRegisterTile(c, k.score, {k.row, width}, vectors).vectors) *
                        (vectors == 1 ? parameters::kOneVector : 1);
    if (cost < least) best = rows, least = cost;
  }
  return best;
}

// Every local buffer that is filled row by row gets a dim for the rows of the block `loop` counts, those that fill
// others last.
bool holdBuffers(Chooser& c, uint32_t loop) {
  for (std::vector<uint32_t> loops{loop}; !loops.empty();) {
    UOp next;
    for (UOp stage : c.facts().stages)
      if (stage.dependsOn(c.range(loops.back()))) next = stage;  // what is filled from it comes later
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
    vectorizeFill(c, slot, width, 1);
    return true;
  }
  return false;
}

bool lanesAcross(Chooser& c, uint32_t row, int64_t width, int64_t vectors) {
  return c.apply(OptKind::Vector, row, width, kAcrossWhy) &&
         (vectors < 2 || c.apply(OptKind::Upcast, row, vectors, "vectors of several rows in one sweep"));
}

UOp scoreOf(UOp stage) {
  for (UOp n : toposort(stage.src(0)))
    if (isProduct(n) && n.dependsOn(stage.src(1)) && n.dependsOn(stage.src().back())) return n;
  return {};
}

bool tileScore(Chooser& c, UOp score, UOp row, int64_t width) {
  const RegisterTile tile = chooseRegisterTile(c, score, {row, width}, maxExtent(row) / width);
  return packRows(c, score, row, width) &&
         (!tile.rowAxis || c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows, registersText(c, tile))) &&
         lanesAcross(c, idOf(row), width, tile.vectors);
}

// Operands that meet the elements of the rows where those are computed (masks) and lie far apart from row to row: their
// blocks are copied so that rows are neighbours.
void packMasks(Chooser& c, UOp element, UOp row, int64_t width) {
  std::vector<uint32_t> slots;
  for (const Access& a : c.facts().accesses) {
    const bool isMask = !a.isStore && a.slot && a.node.dependsOn(row) && a.node.dependsOn(element);
    if (isMask && strideOf(a, row) != 1 && strideOf(a, element) == 1 && !isLaidOut(c, *a.slot))
      slots.push_back(*a.slot);
  }
  if (slots.empty()) return;
  if (maxExtent(element) > parameters::kMaskBlock &&
      c.apply(OptKind::Tile, idOf(element), parameters::kMaskBlock, "a block of the mask at a time"))
    element = c.inner();
  for (uint32_t slot : slots) {
    const PackArgs args{slot, {c.numberOf(idOf(element)), c.numberOf(idOf(row))}};
    if (c.apply(OptKind::Pack, args, "rows become neighbours")) vectorizeFill(c, slot, width, 1);
  }
}

// The loops that fill the buffer, which hold made: elements of a row, then rows.
bool tileFill(Chooser& c, UOp stage, int64_t width) {
  const UOp row = stage.src().back();
  if (scoreOf(stage)) {
    packMasks(c, stage.src(1), row, width);
    return tileScore(c, scoreOf(c.facts().closersOf(row)[0]), row, width);
  }
  const AxisList rowsOutside{{c.numberOf(idOf(row)), c.numberOf(idOf(stage.src(1)))}};
  if (stage.srcCount() > 2 && !c.apply(OptKind::Order, rowsOutside, "what belongs to a row is computed once"))
    return false;
  return lanesAcross(c, idOf(row), width, std::min(parameters::kSweepVectors, maxExtent(row) / width));
}

// What the rows are multiplied with.
std::optional<Access> matrixOf(const Chooser& c, UOp result, UOp column) {
  for (const Access& a : c.facts().accesses)
    if (!a.isStore && a.slot && a.node.dependsOn(column) && a.node.dependsOn(result.src(1))) return a;
  return std::nullopt;
}

// Where the matrix, beside the rows, does not stay in the second level cache, each register tile would fetch it from
// further away: it is read in blocks that the first level cache keeps for all tiles. True when the loop over elements
// counts blocks now.
bool blockElements(Chooser& c, const Access& matrix, UOp result, UOp column) {
  const UOp element = result.src(1);
  const int64_t each = maxExtent(column) * byteSize(matrix.node.dtype()), block = powerBelow(c.caps.l1Bytes / each);
  if (!mayReassociate(c.caps, result.dtype()) || !constExtent(element) || block < 16 || maxExtent(element) < 4 * block)
    return false;
  if (bytesOfStages(c) + maxExtent(element) * each <= c.caps.l2Bytes / 2) return false;
  return c.apply(OptKind::Tile, idOf(element), block, "a block of the matrix stays in the first level cache");
}

// The register tiles of the result: lanes along columns.
bool tileResult(Chooser& c, UOp result, uint32_t row, uint32_t column, int64_t width) {
  const std::optional<Access> matrix = matrixOf(c, result, c.range(column));
  const bool isAcross =
      matrix && strideOf(*matrix, c.range(column)) != 1;  // columns are no neighbours: copied for all rows
  const std::optional<uint32_t> packed = isAcross ? matrix->slot : std::nullopt;
  const uint32_t element = idOf(result.src(1));
  const bool inBlocks = matrix && !isAcross && blockElements(c, *matrix, result, c.range(column));
  const Lanes lanes{c.range(column), std::min(width, powerBelow(maxExtent(c.range(column))))};
  chooseNest(c, {c.facts().closersOf(c.range(element))[0], lanes, packed});
  if (!inBlocks) return true;
  const AxisList sums{{c.numberOf(element), c.numberOf(row), c.numberOf(column)}};
  return c.apply(OptKind::KBlock, sums, "sums wait in memory while the blocks pass");
}

bool tileBlocks(Chooser& c, const RowKernel& k, int64_t width) {
  const int64_t rows = rowsOfBlock(c, k, width);
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
  for (UOp stage : c.facts().stages) blocks.push_back(idOf(stage.src().back()));
  for (uint32_t block : blocks)
    if (!tileFill(c, c.facts().closersOf(c.range(block))[0], width)) return false;
  for (UOp n : c.facts().reduces)
    if (isProduct(n) && n.dependsOn(c.range(column))) return tileResult(c, n, row, column, width);
  return false;
}

}  // namespace

bool keepsRows(const KernelFacts& kernel) { return rowKernelOf(kernel).has_value(); }

bool blockRows(Chooser& c) {
  const RowKernel k = *rowKernelOf(c.facts());
  return tileBlocks(c, k, CostModel(c.facts(), c.caps).fullWidth(k.row));
}

}  // namespace svod
