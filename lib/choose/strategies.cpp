#include "choose/strategies.h"

#include <algorithm>

#include "choose/attention.h"
#include "choose/collapse_loops.h"
#include "choose/direct_conv.h"
#include "choose/dot_products.h"
#include "choose/grid.h"
#include "choose/group_rows.h"
#include "choose/im2col.h"
#include "choose/nest_strategies.h"
#include "choose/non_temporal.h"
#include "choose/prefetch.h"
#include "choose/tensor_core.h"
#include "choose/thread_tiles.h"

namespace svod {

namespace {

bool hasSerial(const KernelFacts& kernel, const Caps&) {
  return std::ranges::any_of(kernel.axes, [](const Axis& a) { return axisType(a.range) == AxisType::Serial; });
}
bool mayReorder(const KernelFacts& kernel, const Caps& caps) { return !hasSerial(kernel, caps); }
bool isGpu(const KernelFacts&, const Caps& caps) { return caps.workgroups; }
bool isCpu(const KernelFacts&, const Caps& caps) { return !caps.workgroups; }
bool hasTensorCores(const KernelFacts&, const Caps& caps) { return caps.workgroups && !caps.cores.empty(); }
bool isCpuLoops(const KernelFacts& kernel, const Caps& caps) { return isCpu(kernel, caps) && mayReorder(kernel, caps); }
bool isCpuRows(const KernelFacts& kernel, const Caps& caps) { return isCpuLoops(kernel, caps) && keepsRows(kernel); }
bool isCpuWindows(const KernelFacts& kernel, const Caps& caps) {
  return isCpuLoops(kernel, caps) && windowsToCopy(kernel, caps).has_value();
}

bool leaveLoops(Chooser&) { return true; }
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
     mayReorder, always<splitGroups>},
    {"collapse-loops", "adjacent loops that every access walks as one are merged", mayReorder, always<collapseLoops>},
    {"dot-products",
     "matrix products of bytes, in `fast` numerics also of bf16, take the dot product instructions of the "
     "processor (`dot`)",
     isCpuLoops, always<useDots>},
};

constexpr Strategy kStrategies[] = {
    {"tensor-cores",
     "sums of products on a GPU that has tensor cores for them: the core, and the axes for its tiles, that "
     "need the least padding, with up to 5 x 5 tiles per warp and four warps per workgroup; other output "
     "axes become the grid",
     hasTensorCores, coresInGrid},
    {"grid", "all other kernels on a GPU: output axes become the grid, neighbours a workgroup", isGpu, groupsInGrid},
    {"serial", "kernels with loops that must run in order: those stay as they are", hasSerial, leaveLoops},
    {"direct-conv",
     "convolutions, dilated or not, of 16 filters or more: what the windows read for some lines of the "
     "result is copied once for all filters, padding included (`window`). How many lines, whether lanes go "
     "on into the next line (`pitch`), and the register tile are those with the least cycles for products, "
     "loads, the copy and reading the weights. Not where no copy fits half of the second level cache, or "
     "windows that skip elements fill vectors badly",
     isCpuWindows, slideOverCopy},
    {"im2col",
     "the other convolutions of 16 filters or more: what every tap reads is packed (`pack`), and with its "
     "axes merged the rest is a matrix product, whose loop nests are chosen below",
     isCpuWindows, multiplyPacked},
    {"attention",
     "kernels that keep rows of a product: blocks of rows (`hold`), whole vectors of them, as many as leave "
     "the least over in register tiles and fit the second level cache; sweeps run across rows, where "
     "nothing is folded; a mask with a row of its own for every query is turned block by block, so that its "
     "rows are neighbours, too (`pack`); where the rows and the matrix they are multiplied with do not fit "
     "half of the second level cache, that product runs in blocks that fit the first (`kblock`)",
     isCpuRows, blockRows},
    {"loop-nests",
     "every kernel: a short output loop whose counter selects among values that every iteration computes "
     "(the places of a tile of a Winograd convolution) is written out; transcendental values that two "
     "sweeps over a row need are shared (`share`); each loop nest gets lanes along the axis for which the "
     "cost model counts the fewest instructions, an access that is not contiguous along it counting once "
     "per lane, unless packed (`A B^T`); then each nest is chosen below",
     isCpuLoops, chooseNests},
};

constexpr Strategy kFinishes[] = {
    {"thread-tiles",
     "thread axes until there are 64 tiles or four per worker, when the kernel takes 20 microseconds or "
     "more; an axis along which a panel would be copied again for every tile only up to two tiles per "
     "worker, one along which the copy of a convolution would be made again only while the workers have "
     "unequal shares",
     isCpu, always<splitForThreads>},
    {"non-temporal",
     "outputs larger than the last cache, of which a core can expect no more than a share, are written past "
     "it (`stream`)",
     isCpu, always<streamOutputs>},
    {"prefetch-operands",
     "operands of streams and rows that do not fit the second level cache are prefetched: 4 KiB ahead, or, "
     "where several loops sweep over a row, the next row in the one that computes most",
     isCpuLoops, always<prefetchOperands>},
    {"prefetch-copies",
     "a copy (`window`, `pack`) that a block of results reads in runs too short for the hardware to look "
     "ahead, and that does not fit half of the first level cache, is prefetched one step of its outermost "
     "reduce loop ahead",
     isCpuLoops, always<prefetchCopies>},
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
  add(rows, "nest", nestStrategies());
  add(rows, "after", kFinishes);
  add(rows, "branch", allBranches());
  return rows;
}

}  // namespace svod
