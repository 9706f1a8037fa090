#include "opts/tile_unit_opt.h"

#include <algorithm>

#include "facts/reduces.h"
#include "ir/tensor_core_form.h"
#include "ir/tile_unit.h"
#include "opts/legality.h"
#include "opts/reloop.h"
#include "symbolic/tile_operands.h"

namespace svod {

namespace {

std::string unitsText(const Caps& caps) {
  std::string text = "tile units:";
  for (size_t i = 0; i < caps.tiles.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(i) + " " + std::string(caps.tiles[i]->name);
  return text;
}

Result<const TileUnit*> pickUnit(const Caps& caps, uint32_t number) {
  if (caps.tiles.empty())
    return fail(Diag::BadOpt, "the target has neither tensor cores nor tile units",
                "use vector and upcast, and dot for bytes");
  if (number < caps.tiles.size()) return caps.tiles[number];
  return fail(Diag::BadOpt, "there is no tile unit " + std::to_string(number), unitsText(caps));
}

Status checkExtent(const Axis& axis, int64_t part, std::string_view name) {
  const std::optional<int64_t> extent = constExtent(axis.range);
  if (extent && *extent >= part) return {};
  return fail(Diag::BadOpt, "axis " + std::string(name) + " has no " + std::to_string(part) + " iterations for certain",
              "tile units take whole tiles; the last one starts earlier");
}

bool isConstant(UOp load, const Caps& caps) {
  const UOp storage = storageOf(load.src(0));
  return storage.op() == Op::Param &&
         std::ranges::find(caps.constants, storage.argAs<SlotArg>().slot) != caps.constants.end();
}

/// What is laid out at compile time has terms innermost. Around these are the columns of B and then its groups, and the
/// groups of A and then its rows.
bool findsFactors(const TileForm& form, const Caps& caps) {
  return (isConstant(form.a, caps) || findsRows(form)) && (isConstant(form.b, caps) || findsColumns(form));
}

// Sizes alone do not tell units apart.
Status checkUnit(UOp sink, const TileUnit& unit, const Caps& caps) {
  for (UOp n : toposort(sink)) {
    const std::optional<TileForm> form = n.op() == Op::Reduce ? tileFormOf(n) : std::nullopt;
    if (form && form->unit != &unit)
      return fail(Diag::BadOpt,
                  std::string(unit.name) + " does not multiply " + std::string(toText(form->a.dtype())) + " in " +
                      std::string(toText(n.dtype())),
                  unitsText(caps));
  }
  return {};
}

/// Copies of a node that expanded ranges outside of the tile make.
int64_t copiesOf(UOp node, const TileForm& form) {
  int64_t copies = 1;
  for (UOp r : node.ranges()) {
    const bool isOfTile = r == form.groups || r == form.terms || r == form.rows || r == form.columns;
    if (!isOfTile && isExpanded(axisType(r))) copies *= maxExtent(r);
  }
  return copies;
}

/// Sums stay in registers from their first product to the last one, and one step's factors beside them.
int64_t registersFor(UOp reduce, const TileForm& form) {
  return copiesOf(reduce, form) + copiesOf(form.a, form) + copiesOf(form.b, form);
}

}  // namespace

int64_t groupsOfStep(UOp extent, const TileUnit& unit) {
  constexpr int64_t kFewest = 4;
  int64_t step = unit.groups;
  while (step >= kFewest && !isMultipleOf(extent, step)) --step;
  return step < kFewest ? 0 : step;
}

Result<Applied> applyTileUnit(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<CoreAxes>(opt.args);
  SVOD_TRY(const TileUnit* unit, pickUnit(caps, args.core));
  SVOD_TRY(Axis m, pickAxis(sink, args.m, kOutput, {AxisType::Loop}));
  SVOD_TRY(Axis n, pickAxis(sink, args.n, kOutput, {AxisType::Loop}));
  SVOD_TRY(Axis k, pickAxis(sink, args.k, kReduce, {AxisType::Reduce}));
  SVOD_CHECK(mayReorder(sink, k.range, caps));
  SVOD_CHECK(checkExtent(m, unit->m, "m"));
  SVOD_CHECK(checkExtent(n, unit->n, "n"));
  const int64_t step = groupsOfStep(k.range.src(0), *unit);
  if (!std::ranges::all_of(closersOf(sink, k.range), sumsGroups) || step == 0)
    return fail(Diag::BadOpt, "axis k is not in groups of products, or not in whole steps of the unit",
                "put dot(k," + std::to_string(unit->group()) + ") before tc; a number from 4 to " +
                    std::to_string(unit->groups) + " has to divide what is left of k");
  SVOD_CHECK(checkExtent(k, step, "k"));
  std::vector<MadeLoop> made;
  const auto split = [&](UOp range, int64_t amount, AxisType outer, AxisType inner) {
    const SplitResult parts = splitRange(g, sink, {range, amount, outer, inner, SplitForm::Inner, caps.overwrites});
    std::ranges::copy(partsOf(parts, range), std::back_inserter(made));
    sink = parts.sink;
  };
  split(m.range, unit->m, AxisType::Loop, AxisType::Core);
  split(n.range, unit->n, AxisType::Loop, AxisType::Vector);
  split(k.range, step, AxisType::Reduce, AxisType::Core);
  SVOD_CHECK(checkUnit(sink, *unit, caps));
  return Applied(sink, std::move(made));
}

Status checkTileSums(UOp sink, const Caps& caps) {
  int64_t registers = 0;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Reduce || !closesCoreRange(n)) continue;
    const std::optional<TileForm> form = tileFormOf(n);
    if (!form)
      return fail(Diag::BadOpt, "the sum would not be one that its tile unit computes",
                  "a tile unit multiplies two operands as they are loaded; upcast and unroll may follow tc");
    if (!findsFactors(*form, caps))
      return fail(Diag::BadOpt, "the tile unit would not find both factors in memory as it reads them",
                  "rows of A have their terms side by side; pack B along k and n, after dot and before tc");
    registers += registersFor(n, *form);
    if (registers > form->unit->registers)
      return fail(Diag::BadOpt,
                  "tiles would take more than the " + std::to_string(form->unit->registers) + " registers",
                  "use smaller upcast and unroll amounts");
  }
  return {};
}

}  // namespace svod
