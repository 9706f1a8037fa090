#include "constants/constant_layout.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <tuple>

#include "facts/accesses.h"
#include "ir/evaluate.h"
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

// A part of a counter that merged loops share: quotients and remainders of a range by constants.
bool isDigit(UOp n) {
  return (n.op() == Op::Floordiv || n.op() == Op::Floormod) && n.src(1).isConst() &&
         (n.src(0).op() == Op::Range || isDigit(n.src(0)));
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

// The ranges of reduces whose results fill a local buffer that is computed from `load`: they run inside of the loops
// over that buffer, though axes are numbered the other way round.
std::vector<UOp> reducesInFills(UOp sink, UOp load) {
  std::vector<UOp> found;
  for (UOp fill : toposort(sink)) {
    if (fill.op() != Op::Fill) continue;
    const std::vector<UOp> inside = toposort(fill.src(0));
    if (std::ranges::find(inside, load) == inside.end()) continue;
    for (UOp n : inside)
      if (n.op() == Op::Reduce) found.insert(found.end(), n.src().begin() + 1, n.src().end());
  }
  return found;
}

// Loops as they nest, then the copies of steps of a reduce, those of results, lanes, and what a lane sums up.
auto nestingKey(UOp leaf, std::span<const Axis> axes, std::span<const UOp> innermost) {
  UOp range = leaf.ranges()[0];
  auto at = std::ranges::find(axes, range, &Axis::range) - axes.begin();
  if (std::ranges::find(innermost, range) != innermost.end()) at += std::ssize(axes);
  AxisType type = axisType(range);
  constexpr AxisType kExpanded[] = {AxisType::Dot, AxisType::Vector, AxisType::Upcast, AxisType::Unroll};
  auto rank = std::end(kExpanded) - std::ranges::find(kExpanded, type);
  return std::tuple(rank, at, range.argAs<AxisArg>().id, leaf.op() == Op::Floormod);
}

struct Reading {
  UOp load;
  std::vector<UOp> leaves;  // outermost first
};

std::optional<Reading> readingOf(UOp sink, uint32_t slot) {
  Reading found;
  for (const Access& a : accessesOf(sink)) {
    if (a.slot != slot) continue;
    if (a.isStore || found.load || a.node.srcCount() > 1) return std::nullopt;
    found.load = a.node;
    if (!collectLeaves(a.address, found.leaves)) return std::nullopt;
  }
  if (!found.load) return std::nullopt;
  const std::vector<Axis> axes = axesOf(sink);
  const std::vector<UOp> innermost = reducesInFills(sink, found.load);
  std::ranges::stable_sort(found.leaves, {}, [&](UOp leaf) { return nestingKey(leaf, axes, innermost); });
  return found;
}

// The address with a range of its own in place of each leaf.
UOp withOwnRanges(Graph& g, UOp address, std::span<const UOp> leaves, std::vector<UOp>& ranges, uint32_t id) {
  for (UOp leaf : leaves) ranges.push_back(g.range(g.index(leaf.bounds().max + 1), id++, AxisType::Loop));
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
      address.add(reading->leaves[i], stride);
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
