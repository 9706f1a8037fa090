#include "cost/cost.h"

#include <algorithm>
#include <bit>

#include "cost/ops.h"
#include "cost/parameters.h"
#include "ir/tile_unit.h"

namespace svod {

namespace {

using namespace parameters;

// Accesses and shuffles for `width` lanes that lie `stride` elements apart: loads of a few vectors where those hold
// them all (lower/strided_loads.h), else one access per lane.
double scattered(int64_t stride, int64_t width, bool isStore) {
  int64_t vectors = stride < 0 ? -stride : stride;
  if (isStore || vectors == 0 || vectors > std::max<int64_t>(2, width / 4) || width < 4)
    return static_cast<double>(width) * (isStore ? kScatteredWeight : 1);
  return static_cast<double>(2 * vectors - (stride > 0 ? 1 : 0));
}

bool isWrittenOut(UOp range) {
  return axisType(range) == AxisType::Upcast || axisType(range) == AxisType::Unroll || range.src(0).isConst(1);
}

// Compares counters of loops that are written out, so each copy of a body knows the result.
bool comparesCopies(UOp n) {
  if (n.dtype() != DType::Bool || n.ranges().empty() || !std::ranges::all_of(n.ranges(), isWrittenOut)) return false;
  return std::ranges::none_of(toposort(n), [](UOp s) { return s.op() == Op::Load || s.op() == Op::Var; });
}

// Whether copies for an expanded range are different values. A load that one copy needs and another does not is one.
bool differsAlong(UOp n, UOp range) {
  if (n.op() != Op::Load || n.srcCount() < 3 || !comparesCopies(n.src(2))) return n.dependsOn(range);
  return n.src(0).dependsOn(range) || n.src(1).dependsOn(range);
}

// Instructions for the lanes of one access that lie apart, where those of other copies lie beside them: blocks are
// transposed in registers (lower/strided_loads.h, lower/strided_stores.h). 0 where it is none of these.
double turned(const Access& access, std::span<const UOp> loops, int64_t width) {
  if (!access.isStore && access.node.srcCount() > 2 && !comparesCopies(access.node.src(2))) return 0;
  for (UOp r : loops) {
    const int64_t copies = isWrittenOut(r) ? constExtent(r).value_or(0) : 0;
    if (copies < kTurnedLeast || copies % kTurnedLeast != 0 || strideOf(access, r) != 1) continue;
    const auto rows = static_cast<uint64_t>(std::min<int64_t>(copies & -copies, width));
    return 1 + (std::bit_width(rows) - 1) * kTurnStep / kMemoryWeight;
  }
  return 0;
}

// Known once the expanded loops are written out: whether it is this case, and what is taken then.
bool isKnown(UOp n) {
  if (comparesCopies(n)) return true;
  UOp counter = caseCounter(n.op() == Op::Where ? n.src(0) : n);
  return counter && axisType(counter) == AxisType::Upcast;
}

// One instruction of a tile unit stands for all that the ranges of a tile would run: the share of an operation of `n`
// that is left to it, 1 where it is not of tiles.
double shareOfTiles(std::span<const TileForm> forms, std::span<const UOp> sums, UOp n) {
  for (size_t i = 0; i < forms.size(); ++i) {
    const TileUnit& unit = *forms[i].unit;
    const UOp product = sums[i].src(0);
    if (n == sums[i]) return unit.cycles / (unit.m * unit.groups);
    if (n == product || n == product.src(0) || n == product.src(1)) return 0;
    if (n == forms[i].a) return 1.0 / unit.groups;
  }
  return 1;
}

}  // namespace

UOp caseCounter(UOp condition) {
  constexpr Op kCompare[] = {Op::Eq, Op::Ne, Op::Lt, Op::Le};
  if (std::ranges::find(kCompare, condition.op()) == std::end(kCompare)) return {};
  UOp a = condition.src(0), b = condition.src(1);
  if (a.isConst()) std::swap(a, b);
  return a.op() == Op::Range && b.isConst() ? a : UOp();
}

double opWeight(UOp n) {
  if (n.op() == Op::Load || n.op() == Op::Store) return kMemoryWeight;
  if (n.op() == Op::Reduce) return 1;
  if (!isElementwise(n.op()) || n.dtype() == DType::Index) return 0;
  if (has(n.op(), Transcend) || n.op() == Op::Threefry || n.op() == Op::Fmod) return kTranscendentalWeight;
  bool divides = n.op() == Op::Fdiv || n.op() == Op::Sqrt || n.op() == Op::Recip || n.op() == Op::Cdiv ||
                 n.op() == Op::Cmod || n.op() == Op::Floordiv || n.op() == Op::Floormod;
  return divides ? kDivisionWeight : 1;
}

double selectedWork(const KernelFacts& kernel, UOp range) {
  std::vector<UOp> choices;
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Where && caseCounter(n.src(0)) == range) choices.insert(choices.end(), {n.src(1), n.src(2)});
  double work = 0;
  for (UOp n : toposort(choices))
    if (n.op() != Op::Load && n.op() != Op::Where && !n.dependsOn(range)) work += opWeight(n);
  return work;
}

double nanoseconds(double instructions) { return instructions / kInstructionsPerNanosecond; }

CostModel::CostModel(const KernelFacts& kernel, const Caps& caps)
    : caps_(caps), loops_(kernel.loops()), lanes_(kernel.lanes) {
  std::vector<TileForm> forms;
  std::vector<UOp> sums;
  for (UOp n : kernel.reduces)
    if (const std::optional<TileForm> form = tileFormOf(n)) forms.push_back(*form), sums.push_back(n);
  for (UOp n : kernel.nodes) {
    const double weight = opWeight(n) * shareOfTiles(forms, sums, n);
    if (weight == 0 || isKnown(n)) continue;
    auto access = std::ranges::find(kernel.accesses, n, &Access::node);
    items_.push_back({n, weight, access == kernel.accesses.end() ? nullptr : &*access});
  }
}

int64_t CostModel::fullWidth(UOp range) const {
  int64_t widest = 1;
  for (const Item& item : items_)
    if (item.node.dependsOn(range)) widest = std::max(widest, laneBytes(item.node));
  return std::clamp<int64_t>(caps_.vectorBytes / widest, 2, 64);
}

std::vector<int64_t> CostModel::widths(UOp range) const {
  const int64_t full = fullWidth(range);
  const std::optional<int64_t> extent = constExtent(range);
  if (!extent) return {full};
  std::vector<int64_t> found;
  for (int64_t w = full; w >= 2; w /= 2) {
    if (w < 2 * *extent) found.push_back(w);
    if (*extent % w == 0) break;
  }
  return found;
}

double CostModel::cost(const Item& item, std::span<const Lanes> lanes, bool packed) const {
  double runs = 1;
  std::vector<UOp> loops(loops_[item.node].begin(), loops_[item.node].end());
  if (item.node.op() == Op::Reduce)  // its operation runs in its own loops
    loops.insert(loops.end(), item.node.src().begin() + 1, item.node.src().end());
  for (UOp r : loops) {
    if (axisType(r) == AxisType::Dot) continue;  // one instruction
    // Copies that do not depend on an expanded range are one value.
    if (isExpanded(axisType(r)) && !differsAlong(item.node, r) && item.node.op() != Op::Store) continue;
    auto lane = std::ranges::find(lanes, r, &Lanes::range);
    int64_t extent = std::max<int64_t>(maxExtent(r), 1), width = lane == lanes.end() ? 1 : lane->width;
    runs *= static_cast<double>((extent + width - 1) / width);
    // All terms of a sum have the mask of their result.
    const bool staysMasked =
        !constExtent(r) && std::ranges::any_of(loops, [](UOp l) { return axisType(l) == AxisType::Reduce; });
    bool inLanes = lane != lanes.end() && (item.node.dependsOn(r) || item.node.op() == Op::Store);
    if (!inLanes || !item.access || packed) continue;
    std::optional<int64_t> stride = strideOf(*item.access, r);
    const double inBlocks = stride && *stride > 1 ? turned(*item.access, loops, width) : 0;
    if (inBlocks > 0)
      runs *= inBlocks;
    else if (!stride || (*stride != 0 && *stride != neighbourStride(*item.access)))
      // The group of a dot product is gathered element by element.
      runs *= static_cast<double>(neighbourStride(*item.access)) *
              scattered(stride.value_or(0), width, item.access->isStore);
    else if (extent < width || !constExtent(r))
      runs *= !hasMasks(*item.access, caps_) ? static_cast<double>(width) : staysMasked ? 1 : kMaskedWeight;
  }
  if (!packed) return runs * item.weight;
  double elements = 1;
  for (UOp r : item.node.ranges()) elements *= static_cast<double>(std::max<int64_t>(maxExtent(r), 1));
  return runs * item.weight + elements * 2 * kMemoryWeight;
}

double CostModel::instructions(std::span<const Lanes> lanes, const Access* packed) const {
  double total = 0;
  for (const Item& item : items_) {
    total += cost(item, lanes, packed && packed->node == item.node);
    if (item.node.op() != Op::Reduce) continue;
    for (UOp r : item.node.src().subspan(1)) {
      auto lane = std::ranges::find(lanes, r, &Lanes::range);
      if (lane == lanes.end()) continue;
      double folds = 2.0 * std::bit_width(static_cast<uint64_t>(lane->width));
      for (UOp outer : loops_[item.node]) folds *= static_cast<double>(std::max<int64_t>(maxExtent(outer), 1));
      total += folds;
    }
  }
  return total;
}

}  // namespace svod
