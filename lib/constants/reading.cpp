#include "constants/reading.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "facts/accesses.h"
#include "ir/gpu_op.h"
#include "symbolic/linear.h"

namespace svod {

namespace {

// How often a counter goes through all values below `divisor`, which only a run knows: 16 of n * 112 by n * 7. Nothing
// where that is no constant.
std::optional<int64_t> roundsOf(UOp counter, UOp divisor) {
  if (counter.op() != Op::Range) return std::nullopt;
  std::vector<UOp> extent, factors;
  flattenFactors(counter.src(0), extent);
  flattenFactors(divisor, factors);
  const auto constantOf = [](std::vector<UOp>& of) {
    int64_t product = 1;
    for (UOp f : of) product *= f.isConst() ? f.constInt() : 1;
    std::erase_if(of, [](UOp f) { return f.isConst(); });
    return product;
  };
  const int64_t all = constantOf(extent), each = constantOf(factors);
  const bool isMultiple = std::ranges::is_permutation(extent, factors) && each > 0 && all % each == 0;
  return isMultiple ? std::optional(all / each) : std::nullopt;
}

// A part of a counter that merged loops share: quotients and remainders of a range by constants, and the quotient by
// the size of a run that its extent is a multiple of. A remainder ends that of any quotient.
bool isDigit(UOp n) {
  if (n.op() != Op::Floordiv && n.op() != Op::Floormod) return false;
  const UOp of = n.src(0);
  if (!n.src(1).isConst()) return n.op() == Op::Floordiv && roundsOf(of, n.src(1)).has_value();
  const bool isQuotient = of.op() == Op::Floordiv && of.src(0).op() == Op::Range && of.src(1).bounds().min > 0;
  return of.op() == Op::Range || isDigit(of) || (n.op() == Op::Floormod && isQuotient);
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

}  // namespace

int64_t countOf(UOp leaf) {
  const int64_t bound = leaf.bounds().max + 1;
  if (leaf.op() != Op::Floordiv) return bound;
  if (!leaf.src(1).isConst()) return *roundsOf(leaf.src(0), leaf.src(1));
  return std::min(bound, (countOf(leaf.src(0)) - 1) / leaf.src(1).constInt() + 1);
}

UOp withinCount(Graph& g, UOp leaf) {
  return countOf(leaf) > leaf.bounds().max ? leaf : g.make(Op::Min, DType::Index, {leaf, g.index(countOf(leaf) - 1)});
}

UOp withOwnRanges(Graph& g, UOp address, std::span<const UOp> leaves, std::vector<UOp>& ranges, uint32_t id) {
  for (UOp leaf : leaves) ranges.push_back(g.range(g.index(countOf(leaf)), id++, AxisType::Loop));
  return substitute(g, address, leaves, ranges);
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

UOp readAt(Graph& g, UOp load, int64_t elements, UOp place) {
  const UOp param = storageOf(load.src(0));
  UOp moved = g.make(Op::Param, param.dtype(), {g.index(elements)}, param.arg());
  if (const UOp own = load.src(0).src(0); own.op() == Op::Prefetch)
    moved = g.make(Op::Prefetch, param.dtype(), {moved}, own.arg());
  return g.load(g.indexInto(moved, {&place, 1}));
}

}  // namespace svod
