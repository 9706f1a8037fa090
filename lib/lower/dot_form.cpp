#include "lower/dot_form.h"

#include <algorithm>

#include "symbolic/symbolic.h"

namespace svod {

namespace {

// Nodes that hold one value per lane once their sources do.
bool isLaneByLane(UOp n) {
  return isElementwise(n.op()) || n.op() == Op::Load || n.op() == Op::Index || n.op() == Op::Range;
}

bool isFactor(UOp wide, UOp range) {
  if (wide.op() != Op::Cast || !sumsDots(wide.src(0).dtype(), wide.dtype())) return false;
  return std::ranges::all_of(toposort(wide), [&](UOp n) { return !n.dependsOn(range) || isLaneByLane(n); });
}

}  // namespace

std::optional<DotForm> dotFormOf(UOp reduce) {
  DotForm form;
  for (UOp r : reduce.src().subspan(1))
    if (r.argAs<AxisArg>().type == AxisType::Dot) form.range = r;
  const bool sums = reduce.argAs<ReduceArg>().op == Op::Add;
  if (!form.range || !sums || !form.range.src(0).isConst()) return std::nullopt;
  UOp value = reduce.src(0);
  if (!isFloat(value.dtype()) && isFactor(value, form.range)) return DotForm{form.range, value.src(0), {}};
  if (value.op() != Op::Mul || !isFactor(value.src(0), form.range) || !isFactor(value.src(1), form.range))
    return std::nullopt;
  return DotForm{form.range, value.src(0).src(0), value.src(1).src(0)};
}

UOp spreadOver(Graph& g, UOp index, const DotLanes& lanes) {
  std::vector<UOp> from{lanes.dot}, zeros{g.index(0)}, steps, results;
  if (lanes.vector) from.push_back(lanes.vector), zeros.push_back(g.index(0));
  const bool isRun =
      coefficientOf(index, lanes.dot) == 1 && (!lanes.vector || coefficientOf(index, lanes.vector) == lanes.group());
  if (isRun) {
    UOp first = simplify(g, substitute(g, index, from, zeros));
    return g.make(Op::Ramp, DType::Index, {first}, SlotArg{static_cast<uint32_t>(lanes.count())});
  }
  for (int64_t i = 0; i < lanes.count(); ++i)
    steps.push_back(g.index(i % lanes.group())), results.push_back(g.index(i / lanes.group()));
  std::vector<UOp> to{g.make(Op::Stack, DType::Index, steps)};
  if (lanes.vector) to.push_back(g.make(Op::Stack, DType::Index, results));
  return substitute(g, index, from, to);
}

}  // namespace svod
