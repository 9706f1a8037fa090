#include "constants/constant_layout.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "facts/accesses.h"
#include "ir/evaluate.h"
#include "ir/gpu_op.h"
#include "symbolic/linear.h"
#include "symbolic/symbolic.h"

namespace svod {

int64_t ConstantLayout::elements() const {
  int64_t count = 1;
  for (const Dim& d : dims) count *= d.extent;
  return count;
}

namespace {

constexpr int64_t kMaxTable = 1 << 14;

// How often a counter goes through all values below `divisor`, which only a run knows: 4 of n * 4 by n. Nothing where
// that is no constant.
std::optional<int64_t> roundsOf(UOp counter, UOp divisor) {
  if (counter.op() != Op::Range) return std::nullopt;
  std::vector<UOp> extent, factors;
  flattenFactors(counter.src(0), extent);
  flattenFactors(divisor, factors);
  for (UOp f : factors) {
    const auto at = std::ranges::find(extent, f);
    if (at == extent.end()) return std::nullopt;
    extent.erase(at);
  }
  int64_t rounds = 1;
  for (UOp f : extent) {
    if (!f.isConst()) return std::nullopt;
    rounds *= f.constInt();
  }
  return rounds;
}

// A part of a counter that merged loops share: quotients and remainders of a range by constants, and the quotient by
// the size of a run that its extent is a multiple of.
bool isDigit(UOp n) {
  if (n.op() != Op::Floordiv && n.op() != Op::Floormod) return false;
  if (!n.src(1).isConst()) return n.op() == Op::Floordiv && roundsOf(n.src(0), n.src(1)).has_value();
  return n.src(0).op() == Op::Range || isDigit(n.src(0));
}

// How many values a counter or a digit has at most.
int64_t countOf(UOp leaf) {
  const int64_t bound = leaf.bounds().max + 1;
  if (leaf.op() != Op::Floordiv) return bound;
  if (!leaf.src(1).isConst()) return *roundsOf(leaf.src(0), leaf.src(1));
  return std::min(bound, (countOf(leaf.src(0)) - 1) / leaf.src(1).constInt() + 1);
}

// The counters and digits that an address is made of; false where it is made of anything else. Each node is visited
// once: quotients and remainders share what they divide.
bool collectLeaves(UOp address, std::vector<UOp>& leaves) {
  constexpr Op kArithmetic[] = {Op::Add, Op::Sub, Op::Neg, Op::Mul, Op::Min, Op::Max, Op::Floordiv, Op::Floormod};
  std::vector<UOp> open{address};
  std::set<uint32_t> seen;
  while (!open.empty()) {
    UOp n = open.back();
    open.pop_back();
    if (n.isConst() || !seen.insert(n.id()).second) continue;
    if (n.op() == Op::Range || isDigit(n)) {
      if (n.bounds().min != 0) return false;
      leaves.push_back(n);
    } else if (std::ranges::find(kArithmetic, n.op()) != std::end(kArithmetic)) {
      open.insert(open.end(), n.src().begin(), n.src().end());
    } else {
      return false;
    }
  }
  return true;
}

// By id, how many nests of loops are open around each node that `load` is computed into: a fill inside of a sum runs
// inside of its loops, a sum that a fill adds up inside of those of the fill.
std::vector<int> nestsAround(std::span<const UOp> nodes, UOp load) {
  const uint32_t last = std::ranges::max(nodes, {}, [](UOp n) { return n.id(); }).id();
  std::vector<bool> holds(last + 1);
  std::vector<int> around(last + 1);
  for (UOp n : nodes) holds[n.id()] = n == load || std::ranges::any_of(n.src(), [&](UOp s) { return holds[s.id()]; });
  const auto closes = [](UOp n) { return n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Fill; };
  for (UOp n : nodes | std::views::reverse)
    for (UOp s : n.src())
      if (holds[s.id()]) around[s.id()] = std::max(around[s.id()], around[n.id()] + (closes(n) ? 1 : 0));
  for (UOp n : nodes)
    if (!holds[n.id()]) around[n.id()] = -1;
  return around;
}

// What decides which of the leaves of an address is outside of which.
struct LeafOrder {
  int copies;     // 0 of loops; more of what a thread does at once
  int nests;      // around a loop
  int64_t place;  // of a loop among the axes; lanes of a tensor core count faster than other threads
  uint32_t id;
  int64_t unit;  // of a digit, the negative number that it counts
  auto operator<=>(const LeafOrder&) const = default;
};

int64_t unitOf(UOp leaf) {
  if (leaf.op() == Op::Range) return 1;
  return unitOf(leaf.src(0)) * (leaf.op() == Op::Floordiv ? leaf.src(1).bounds().max : 1);
}

// Steps of a reduce, results, lanes, terms of an instruction.
int copiesOf(AxisType type) {
  constexpr AxisType kInwards[] = {AxisType::Unroll, AxisType::Upcast, AxisType::Core, AxisType::Vector, AxisType::Dot};
  const auto at = std::ranges::find(kInwards, type);
  return at == std::end(kInwards) ? 0 : static_cast<int>(at - std::begin(kInwards)) + 1;
}

// Threads that run side by side.
bool isSideBySide(AxisType type) { return isThreadOfGroup(type) || type == AxisType::Spread; }

struct Reading {
  UOp load;
  std::vector<UOp> leaves;  // outermost first
};

// The outermost first. Threads of a workgroup are inside of all loops, around what is one access of 16 bytes each: so
// neighbours read neighbours.
void sortLeaves(std::vector<UOp>& leaves, std::span<const UOp> nodes, UOp load) {
  const std::vector<Axis> axes = axesOf(nodes);
  const std::vector<int> around = nestsAround(nodes, load);
  std::map<uint32_t, int> nests;  // by id of the range
  for (UOp n : nodes)
    if (n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Fill)
      for (UOp r : n.src().subspan(1)) nests[r.id()] = std::max(nests[r.id()], around[n.id()]);
  const auto orderOf = [&](UOp leaf) {
    const UOp range = leaf.ranges()[0];
    const AxisType type = axisType(range);
    LeafOrder order{copiesOf(type), 0, type == AxisType::Warp, range.argAs<AxisArg>().id, -unitOf(leaf)};
    if (order.copies > 0 || isSideBySide(type)) return order;
    order.nests = nests[range.id()], order.place = std::ranges::find(axes, range, &Axis::range) - axes.begin();
    return order;
  };
  std::ranges::stable_sort(leaves, {}, orderOf);
  const auto threads =
      std::ranges::stable_partition(leaves, [](UOp leaf) { return !isSideBySide(axisType(leaf.ranges()[0])); });
  int64_t bytes = byteSize(load.dtype());
  auto first = threads.begin();  // of what one access reads
  while (first != leaves.begin()) {
    const UOp range = (*(first - 1)).ranges()[0];
    if (copiesOf(axisType(range)) == 0 || (bytes *= countOf(*(first - 1))) > kAccessBytes) break;
    --first;
  }
  std::ranges::rotate(first, threads.begin(), leaves.end());
}

std::optional<Reading> readingOf(UOp sink, uint32_t slot) {
  Reading found;
  for (const Access& a : accessesOf(sink)) {
    if (a.slot != slot) continue;
    if (a.isStore || found.load || a.node.srcCount() > 1) return std::nullopt;
    found.load = a.node;
    if (!collectLeaves(a.address, found.leaves)) return std::nullopt;
  }
  if (!found.load) return std::nullopt;
  sortLeaves(found.leaves, toposort(sink), found.load);
  return found;
}

// The address with a range of its own in place of each leaf.
UOp withOwnRanges(Graph& g, UOp address, std::span<const UOp> leaves, std::vector<UOp>& ranges, uint32_t id) {
  for (UOp leaf : leaves) ranges.push_back(g.range(g.index(countOf(leaf)), id++, AxisType::Loop));
  return substitute(g, address, leaves, ranges);
}

std::optional<ConstantLayout> layoutOf(Graph& g, UOp sink, uint32_t slot, const Reading& reading) {
  std::vector<UOp> ranges;
  UOp address = withOwnRanges(g, reading.load.src(0).src(1), reading.leaves, ranges, nextRangeId(sink));
  Linear form = linearOf(address);
  if (form.overflow) return std::nullopt;
  auto isAffine = [&](UOp r) {
    return std::ranges::all_of(form.terms, [&](const Term& t) { return t.base == r || !t.base.dependsOn(r); });
  };
  ConstantLayout layout{slot, {}, {}};
  int64_t entries = 1, elements = 1, most = storageOf(reading.load.src(0)).src(0).bounds().max;
  most += most / 4 + 1024;
  for (size_t i = ranges.size(); i-- > 0;) {
    const int64_t extent = maxExtent(ranges[i]);
    const bool affine = isAffine(ranges[i]);
    layout.dims.insert(layout.dims.begin(), {extent, affine ? form.coefOf(ranges[i]) : 0, affine ? 0 : entries});
    if (!affine) entries *= extent;
    if (extent > most || (elements *= extent) > most || entries > kMaxTable) return std::nullopt;
  }
  for (int64_t entry = 0; entry < entries; ++entry) {
    auto counter = [&](UOp leaf) -> std::optional<Scalar> {
      auto at = static_cast<size_t>(std::ranges::find(ranges, leaf) - ranges.begin());
      const ConstantLayout::Dim& d = layout.dims[at];
      return Scalar::ofInt(DType::Index, d.step == 0 ? 0 : entry / d.step % d.extent);
    };
    std::optional<Scalar> place = evaluate(address, counter);
    if (!place) return std::nullopt;
    layout.table.push_back(place->asInt());
  }
  return layout;
}

bool keepsOrder(const ConstantLayout& layout, int64_t elements) {
  int64_t stride = 1;
  for (const ConstantLayout::Dim& d : layout.dims | std::views::reverse) {
    if (d.extent > 1 && (d.stride != stride || d.step != 0)) return false;
    stride *= d.extent;
  }
  return stride == elements && layout.table[0] == 0;
}

// The leaf, so that its bounds say how many values it has.
UOp withinCount(Graph& g, UOp leaf) {
  return countOf(leaf) > leaf.bounds().max ? leaf : g.make(Op::Min, DType::Index, {leaf, g.index(countOf(leaf) - 1)});
}

}  // namespace

std::optional<ConstantLayout> readingOrder(Graph& g, UOp sink, uint32_t slot) {
  std::optional<Reading> reading = readingOf(sink, slot);
  return reading ? layoutOf(g, sink, slot, *reading) : std::nullopt;
}

UOp layOutConstants(Graph& g, UOp sink, std::span<const uint32_t> slots, std::vector<ConstantLayout>& layouts) {
  for (uint32_t slot : slots) {
    std::optional<Reading> reading = readingOf(sink, slot);
    std::optional<ConstantLayout> layout = reading ? layoutOf(g, sink, slot, *reading) : std::nullopt;
    if (!layout) continue;
    UOp param = storageOf(reading->load.src(0));
    if (keepsOrder(*layout, param.src(0).bounds().max)) continue;
    Linear address;
    int64_t stride = 1;
    for (size_t i = layout->dims.size(); i-- > 0; stride *= layout->dims[i].extent)
      address.add(withinCount(g, reading->leaves[i]), stride);
    UOp at = build(g, address);
    UOp moved = g.make(Op::Param, param.dtype(), {g.index(layout->elements())}, param.arg());
    if (UOp place = reading->load.src(0).src(0); place.op() == Op::Prefetch)
      moved = g.make(Op::Prefetch, param.dtype(), {moved}, place.arg());
    UOp read = g.load(g.indexInto(moved, {&at, 1}));
    sink = substitute(g, sink, std::span(&reading->load, 1), std::span(&read, 1));
    layouts.push_back(std::move(*layout));
  }
  return sink;
}

}  // namespace svod
