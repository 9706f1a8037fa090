#include "ir/tile_unit.h"

#include <algorithm>

#include "ir/ranges.h"

namespace svod {

namespace {

constexpr TileUnit kUnits[] = {
#define TILE(name, feature, in, out, m, n, groups, registers, cycles, latency) \
  {name, feature, DType::in, DType::out, m, n, groups, registers, cycles, latency},
#include "ir/tile_units.def"
#undef TILE
};

UOp rangeOf(std::span<const UOp> ranges, AxisType type, UOp without = {}) {
  const auto found = std::ranges::find_if(ranges, [&](UOp r) { return axisType(r) == type && r != without; });
  return found == ranges.end() ? UOp() : *found;
}

/// What is loaded and widened, without a gate; null for all else.
UOp loadedFactor(UOp wide) {
  const bool isBare = wide.op() == Op::Cast && wide.src(0).op() == Op::Load && wide.src(0).srcCount() == 1;
  return isBare ? wide.src(0) : UOp();
}

bool hasExtent(UOp range, int64_t extent) { return range && range.src(0).isConst(extent); }

}  // namespace

std::span<const TileUnit> allTileUnits() { return kUnits; }

const TileUnit* findTileUnit(std::string_view name) {
  const auto found = std::ranges::find(kUnits, name, &TileUnit::name);
  return found == std::end(kUnits) ? nullptr : found;
}

std::optional<TileForm> tileFormOf(UOp reduce) {
  const std::span<const UOp> closed = reduce.src().subspan(1);
  TileForm form{.groups = rangeOf(closed, AxisType::Core), .terms = rangeOf(closed, AxisType::Dot)};
  const UOp product = reduce.src(0);
  if (!form.groups || !form.terms || reduce.argAs<ReduceArg>().op != Op::Add || product.op() != Op::Mul) return {};
  const bool isPlain = std::ranges::all_of(closed, [&](UOp r) {
    return r == form.groups || r == form.terms || axisType(r) == AxisType::Reduce || axisType(r) == AxisType::Unroll;
  });
  form.a = loadedFactor(product.src(0)), form.b = loadedFactor(product.src(1));
  if (!isPlain || !form.a || !form.b) return {};
  if (rangeOf(form.a.ranges(), AxisType::Vector)) std::swap(form.a, form.b);
  form.rows = rangeOf(form.a.ranges(), AxisType::Core, form.groups);
  form.columns = rangeOf(form.b.ranges(), AxisType::Vector);
  if (!form.rows || !form.columns) return {};
  if (form.a.dependsOn(form.columns) || form.b.dependsOn(form.rows)) return {};
  for (const TileUnit& unit : kUnits) {
    const bool fits = unit.takes(form.a.dtype()) && unit.takes(form.b.dtype()) && unit.out == reduce.dtype() &&
                      form.groups.src(0).isConst() && form.groupCount() <= unit.groups &&
                      hasExtent(form.terms, unit.group()) && hasExtent(form.rows, unit.m) &&
                      hasExtent(form.columns, unit.n);
    if (fits) return form.unit = &unit, form;
  }
  return {};
}

}  // namespace svod
