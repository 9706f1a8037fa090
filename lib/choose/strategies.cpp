#include "choose/strategies.h"

#include <algorithm>

#include "choose/attention.h"
#include "choose/collapse_loops.h"
#include "choose/direct_conv.h"
#include "choose/dot_products.h"
#include "choose/filter_lanes.h"
#include "choose/grid.h"
#include "choose/grid_product.h"
#include "choose/grid_rows.h"
#include "choose/group_rows.h"
#include "choose/im2col.h"
#include "choose/nest_strategies.h"
#include "choose/non_temporal.h"
#include "choose/prefetch.h"
#include "choose/shared_sums.h"
#include "choose/tensor_core.h"
#include "choose/thread_tiles.h"
#include "choose/tile_order.h"
#include "choose/tile_windows.h"
#include "cost/parameters.h"
#include "cost/windows.h"
#include "facts/reduces.h"
#include "facts/row_kernel.h"

namespace svod {

namespace {

bool copiesWindows(const KernelFacts& kernel, const Caps& caps) { return windowsToCopy(kernel, caps).has_value(); }
bool holdsRows(const KernelFacts& kernel, const Caps&) { return rowKernelOf(kernel).has_value(); }

bool hasPattern(const KernelFacts& kernel, std::initializer_list<Pattern> patterns) {
  return std::ranges::find(patterns, kernel.pattern()) != patterns.end();
}
bool sweepsRows(const KernelFacts& kernel, const Caps&) {
  using enum Pattern;
  return hasPattern(kernel, {FullReduce, RowReduce, Gemv, Gemm});
}
bool sweepsColumns(const KernelFacts& kernel, const Caps&) {
  return hasPattern(kernel, {Pattern::ColumnReduce, Pattern::Gemv}) &&
         std::ranges::any_of(loopedReduces(kernel),
                             [](UOp reduce) { return termsOf(reduce) > parameters::kGpuShortSum; });
}
bool sharesReadsOfSums(const KernelFacts& kernel, const Caps&) { return sharesReads(kernel); }
bool sharesReadsInRegisters(const KernelFacts& kernel, const Caps&) {
  return static_cast<bool>(loopOfSharedReads(kernel, parameters::kSharedTerms));
}
bool transposes(const KernelFacts& kernel, const Caps&) { return hasPattern(kernel, {Pattern::Transpose}); }

bool coresInGrid(Chooser& c) {  // cores first: a tile takes some of one operand alone, and the grid merges axes
  if (!useTensorCore(c)) return false;
  fillGrid(c);
  return true;
}
bool groupsInGrid(Chooser& c) {
  if (fillGrid(c)) fillWorkgroups(c);
  return true;
}
bool multiplyPacked(Chooser& c) { return packWindows(c) && chooseNests(c); }

constexpr Strategy kPreparations[] = {
    {"group-rows",
     "loops along which what a load reads changes every n iterations only (the filters of a grouped "
     "convolution) are split there, so that the rows of a group share it",
     On::Any, LoopOrder::Free, nullptr, always<splitGroups>},
    {"collapse-loops", "adjacent loops that every access walks as one are merged", On::Any, LoopOrder::Free, nullptr,
     always<collapseLoops>},
    {"dot-products",
     "matrix products of bytes and of bf16 (not in `strict` numerics) take the dot product instructions of the "
     "processor (`dot`)",
     On::Cpu, LoopOrder::Free, nullptr, always<useDots>},
};

constexpr std::string_view kSlidingModel = "tiles over a copy of what windows read";

constexpr Strategy kStrategies[] = {
    {"core-tiles",
     "matrix products and convolutions on tensor cores: a workgroup shares swizzled copies of both operands, some "
     "steps ahead; the tile is that with the fewest cycles by products, shared memory, L2 and lines of results, in "
     "whole waves",
     On::TensorCores, LoopOrder::Free, multipliesMatrices, multiplyWithCores},
    {"tensor-cores",
     "sums of products on a GPU that has tensor cores for them: the core and the axes that need the least padding, up "
     "to 5 x 5 tiles per warp, four warps per workgroup; other axes become the grid",
     On::TensorCores, LoopOrder::Any, nullptr, coresInGrid},
    {"lane-tiles", "products in such tiles where single threads multiply: register tiles, read in vectors of four",
     On::Gpu, LoopOrder::Free, multipliesMatrices, multiplyWithLanes},
    {"held-rows",
     "kernels that hold rows of a product, on a GPU: a workgroup for each row fills it (`spread`), folds it "
     "(`group`) and computes the columns of the result (`local`) with the same threads",
     On::Gpu, LoopOrder::Free, holdsRows, holdRowsInGroups},
    {"row-groups",
     "reductions along contiguous memory, on a GPU: vectors, and neighbours that share a row and exchange sums "
     "(`group`); short rows several to a workgroup. Not of a matrix times a vector whose terms lie across rows",
     On::Gpu, LoopOrder::Free, sweepsRows, reduceRows},
    {"own-sums",
     "sums of few terms of which several results read the same elements, as those of a scan, on a GPU: a thread has "
     "all of these in registers, and reads each element once",
     On::Gpu, LoopOrder::Free, sharesReadsOfSums, sumInThreads},
    {"column-groups",
     "reductions of more than 32 terms across it: a warp side by side, and up to 8 of them one below the other, "
     "more of few columns",
     On::Gpu, LoopOrder::Free, sweepsColumns, reduceColumns},
    {"squares",
     "transposes on a GPU: tiles whose rows are lines of 128 bytes go through shared memory, read along one axis and "
     "written along the other in pieces of 16 bytes; 32 x 32 where tiles would be few",
     On::Gpu, LoopOrder::Free, transposes, transposeInTiles},
    {"grid-streams",
     "results that do not depend on each other, and short sums, on a GPU: vectors of 16 bytes, neighbours a workgroup, "
     "four "
     "accesses under way where there are many",
     On::Gpu, LoopOrder::Free, nullptr, streamInVectors},
    {"grid",
     "all other kernels on a GPU: output axes become the grid, but for parts of those that no sum depends on, which a "
     "thread runs itself where its sums take longer than its results; neighbours become a workgroup",
     On::Gpu, LoopOrder::Any, nullptr, groupsInGrid},
    {"tile-windows",
     "convolutions in a tile unit: filters are its rows, and columns of a line its columns, in a copy of what windows "
     "read (`window`) with groups of channels side by side. Short lines go on in the next one (`pitch`)",
     On::Cpu, LoopOrder::Free, copiesWindows, multiplyWindowsInTiles},
    {"direct-conv",
     "convolutions, dilated or not, of 16 filters or more: what windows read for some lines is copied once for all "
     "filters (`window`). Lines, `pitch` and register tile have the least cycles. Not where no copy fits half of L2",
     On::Cpu, LoopOrder::Free, copiesWindows, slideOverCopy, kSlidingModel},
    {"filter-lanes",
     "the same copy with lanes along filters where weights are constant: no lane is idle between lines, and results "
     "are "
     "turned in registers before they are stored. Channels of bytes are groups of dot products (`dot`)",
     On::Cpu, LoopOrder::Free, copiesWindows, multiplyFilters, kSlidingModel},
    {"im2col",
     "the other convolutions of 16 filters or more, and products with short lines of a larger matrix: what every tap "
     "reads is packed (`pack`), and with its axes merged the rest is a matrix product, whose loops are chosen below",
     On::Cpu, LoopOrder::Free, copiesWindows, multiplyPacked},
    {"attention",
     "kernels that hold rows of a product: blocks of rows (`hold`), whole vectors of them, which fill register tiles "
     "best and fit the second level cache; sweeps run across rows, where nothing is folded",
     On::Cpu, LoopOrder::Free, holdsRows, blockRows},
    {"shared-sums",
     "sums of few terms of which several results read the same elements, as those of a scan: all of these results stay "
     "in registers; lanes that are not neighbours in memory are blocks, transposed in registers",
     On::Cpu, LoopOrder::Free, sharesReadsInRegisters, sumTogether},
    {"loop-nests",
     "every kernel: each nest of loops that may run in any order gets lanes along the axis with the fewest "
     "instructions; an access that is not contiguous counts once per lane, unless packed. Then each nest is chosen "
     "below",
     On::Cpu, LoopOrder::Any, nullptr, chooseNests},
};

constexpr Strategy kFinishes[] = {
    {"tile-order",
     "the two outermost loops of a product change places where that has the lower price: what the inner one walks "
     "along is "
     "read again and again, and should be near",
     On::Cpu, LoopOrder::Free, nullptr, always<orderTiles>},
    {"prefetch-columns",
     "an operand of a product that does not fit L1 and is read in short runs is prefetched: the runs beside, which the "
     "next tile reads, or the next rows where two tiles leave L2 or lanes share an element",
     On::Cpu, LoopOrder::Free, nullptr, always<prefetchColumns>},
    {"prefetch-weights",
     "constant operands of sums that stand in the order in which they are read, and do not fit L1, are prefetched "
     "4 KiB ahead, unless wide tiles sweep over them often: a run comes to them after all others",
     On::Cpu, LoopOrder::Any, nullptr, always<prefetchWeights>},
    {"thread-tiles",
     "thread axes until there are 64 tiles or four per worker, in kernels of 8 microseconds or more; fewer along axes "
     "where each tile would copy a panel or the windows of a convolution again",
     On::Cpu, LoopOrder::Any, nullptr, always<splitForThreads>},
    {"non-temporal",
     "outputs larger than the last cache, of which a core can expect no more than a share, are written past "
     "it (`stream`)",
     On::Cpu, LoopOrder::Any, nullptr, always<streamOutputs>},
    {"prefetch-operands",
     "operands of streams and rows that do not fit the second level cache are prefetched: 4 KiB ahead, or, "
     "where several loops sweep over a row, the next row in the one that computes most",
     On::Cpu, LoopOrder::Free, nullptr, always<prefetchOperands>},
    {"prefetch-copies",
     "a copy (`window`, `pack`) that does not fit half of L1, and is read in runs too short for the hardware to look "
     "ahead, is prefetched one step of its outermost reduce loop ahead",
     On::Cpu, LoopOrder::Free, nullptr, always<prefetchCopies>},
};

void add(std::vector<StrategyRow>& rows, std::string_view phase, const auto& table) {
  for (const auto& row : table) rows.push_back({phase, row.name, row.what});
}

}  // namespace

std::span<const Strategy> preparations() { return kPreparations; }
std::span<const Strategy> strategies() { return kStrategies; }
std::span<const Strategy> finishes() { return kFinishes; }

std::vector<StrategyRow> allStrategies() {
  std::vector<StrategyRow> rows;
  add(rows, "before", kPreparations);
  add(rows, "kernel", kStrategies);
  add(rows, "nests", nestPreparations());
  add(rows, "nest", nestStrategies());
  add(rows, "after", kFinishes);
  add(rows, "branch", allBranches());
  return rows;
}

}  // namespace svod
