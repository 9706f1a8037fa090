#include "symbolic/tile_operands.h"

#include "symbolic/symbolic.h"

namespace svod {

namespace {

std::optional<int64_t> stepAlong(UOp load, UOp range) { return coefficientOf(load.src(0).src(1), range); }

}  // namespace

bool findsRows(const TileForm& form) {
  return stepAlong(form.a, form.rows).value_or(-1) >= 0 && stepAlong(form.a, form.terms) == 1 &&
         stepAlong(form.a, form.groups) == form.unit->group();
}

bool findsColumns(const TileForm& form) {
  return stepAlong(form.b, form.groups).value_or(-1) >= 0 && stepAlong(form.b, form.terms) == 1 &&
         stepAlong(form.b, form.columns) == form.unit->group();
}

std::optional<TileForm> tileInMemory(UOp reduce) {
  const std::optional<TileForm> form = tileFormOf(reduce);
  return form && findsRows(*form) && findsColumns(*form) ? form : std::nullopt;
}

}  // namespace svod
