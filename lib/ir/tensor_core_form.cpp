#include "ir/tensor_core_form.h"

#include <algorithm>

namespace svod {

namespace {

AxisType typeOf(UOp range) { return range.argAs<AxisArg>().type; }

bool widens(DType from, DType to) { return isFloat(from) && isFloat(to) && info(from).bits < info(to).bits; }
bool isWidened(UOp x) { return x.op() == Op::Cast && widens(x.src(0).dtype(), x.dtype()); }

// The ranges of the tile with the runs that they are, or nothing where they are not those of `core`.
std::vector<TileRange> rangesFor(const TensorCore& core, const CoreTile& tile) {
  std::vector<UOp> ranges(tile.lanes.rbegin(), tile.lanes.rend());  // low bits first, as runs are
  ranges.insert(ranges.end(), tile.elements.rbegin(), tile.elements.rend());
  std::vector<TileRange> found;
  const std::vector<FragmentRun> runs = runsOf(core.c);
  if (runs.size() != ranges.size()) return {};
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool fits =
        ranges[i].src(0).isConst(runs[i].extent()) && runs[i].ofLane == (typeOf(ranges[i]) == AxisType::Warp);
    if (!fits) return {};
    found.push_back({ranges[i], runs[i]});
  }
  return found;
}

bool dependsOn(UOp factor, std::span<const TileRange> ranges, char dim) {
  return std::ranges::any_of(ranges,
                             [&](const TileRange& t) { return t.run.to.dim == dim && factor.dependsOn(t.range); });
}

// The Core range among what `reduce` folds; null where there is none or where one instruction does not add that up.
UOp termsOf(UOp reduce) {
  UOp terms;
  for (UOp r : reduce.src().subspan(1)) {
    const bool isAdded = typeOf(r) == AxisType::Reduce || typeOf(r) == AxisType::Loop ||
                         typeOf(r) == AxisType::Unroll || typeOf(r) == AxisType::Group;
    if (typeOf(r) == AxisType::Core && !terms) {
      terms = r;
    } else if (!isAdded) {
      return {};
    }
  }
  const bool hasLanes = std::ranges::any_of(reduce.ranges(), [](UOp r) { return typeOf(r) == AxisType::Vector; });
  return hasLanes ? UOp() : terms;
}

}  // namespace

std::optional<Factors> factorsOf(UOp reduce) {
  return reduce.argAs<ReduceArg>().op == Op::Add ? factorsOfTerm(reduce.src(0)) : std::nullopt;
}

std::optional<Factors> factorsOfTerm(UOp value) {
  if (isWidened(value) && value.src(0).op() == Op::Mul && !isMinifloat(value.src(0).dtype()))
    return Factors{value.src(0).src(0), value.src(0).src(1)};
  if (value.op() != Op::Mul) return std::nullopt;
  UOp x = value.src(0), y = value.src(1);
  const bool narrow = isWidened(x) && isWidened(y) && x.src(0).dtype() == y.src(0).dtype();
  return narrow ? Factors{x.src(0), y.src(0)} : Factors{x, y};
}

CoreTile coreTileOf(UOp sink) {
  std::vector<UOp> closed;
  CoreTile tile;
  for (UOp n : toposort(sink))
    if (n.op() == Op::End || n.op() == Op::Fill)
      for (UOp r : n.src().subspan(1))
        if (std::ranges::find(closed, r) == closed.end()) closed.push_back(r);
  std::ranges::sort(closed, {}, [](UOp r) { return r.argAs<AxisArg>().id; });
  for (UOp r : closed) {
    if (typeOf(r) == AxisType::Warp) tile.lanes.push_back(r);
    if (typeOf(r) == AxisType::Core) tile.elements.push_back(r);
  }
  return tile;
}

bool closesCoreRange(UOp reduce) {
  return std::ranges::any_of(reduce.src().subspan(1), [](UOp r) { return typeOf(r) == AxisType::Core; });
}

std::optional<CoreForm> coreFormOf(const CoreTile& tile, UOp reduce) {
  UOp terms = tile.lanes.empty() ? UOp() : termsOf(reduce);
  std::optional<Factors> factors = terms ? factorsOf(reduce) : std::nullopt;
  if (!factors) return std::nullopt;
  for (const TensorCore& core : allTensorCores()) {
    const bool fits = factors->x.dtype() == core.in && factors->y.dtype() == core.in && reduce.dtype() == core.out &&
                      terms.src(0).isConst(core.k);
    const std::vector<TileRange> ranges = fits ? rangesFor(core, tile) : std::vector<TileRange>{};
    if (ranges.empty()) continue;
    for (auto [a, b] : {std::pair(factors->x, factors->y), std::pair(factors->y, factors->x)})
      if (!dependsOn(a, ranges, 'n') && !dependsOn(b, ranges, 'm')) return CoreForm{&core, terms, a, b, ranges};
  }
  return std::nullopt;
}

}  // namespace svod
