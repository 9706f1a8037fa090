#include "lower/tile_factors.h"

#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// `rows` rows of `columns` elements of what `load` reads. It starts where all ranges of the tile are 0, and its rows
/// lie along `range`.
UOp matrixAt(Graph& g, UOp load, std::span<const UOp> tile, UOp range, int64_t rows, int64_t columns,
             const std::function<UOp(UOp)>& expanded) {
  const int64_t apart = coefficientOf(load.src(0).src(1), range).value_or(0);
  const std::vector<UOp> zeros(tile.size(), g.index(0));
  const UOp first = expanded(substitute(g, load, tile, zeros)).src(0);
  const UOp at = g.make(Op::Rows, DType::Index, {first.src(1), g.index(apart), g.index(columns)},
                        SlotArg{static_cast<uint32_t>(rows * columns)});
  return g.load(g.indexInto(first.src(0), {&at, 1}));
}

}  // namespace

FoldTerm tileTerm(Graph& g, const TileForm& form, const std::function<UOp(UOp)>& expanded) {
  const TileUnit& unit = *form.unit;
  const UOp tile[] = {form.groups, form.terms, form.rows, form.columns};
  FoldTerm term{.a = matrixAt(g, form.a, tile, form.rows, unit.m, form.termCount(), expanded),
                .b = matrixAt(g, form.b, tile, form.groups, form.groupCount(), unit.n * unit.group(), expanded)};
  term.tile = &unit;
  return term;
}

UOp tileRow(Graph& g, const TileUnit& unit, UOp sums, int64_t row) {
  std::vector<UOp> lanes;
  for (int64_t i = row * unit.n; i < (row + 1) * unit.n; ++i)
    lanes.push_back(g.make(Op::Lane, sums.dtype(), {sums}, SlotArg{static_cast<uint32_t>(i)}));
  return g.make(Op::Stack, sums.dtype(), lanes);
}

}  // namespace svod
