#include "opts/gated_sums.h"

#include <algorithm>
#include <optional>

#include "ir/ranges.h"
#include "symbolic/linear.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

Op opOf(UOp reduce) { return reduce.argAs<ReduceArg>().op; }

bool isIdentity(UOp value, Op op) { return value.isConst() && value.argAs<Scalar>() == identity(op, value.dtype()); }

/// What holds where a term is anything but the identity of the reduction, and more.
void addClauses(UOp term, Op op, std::vector<UOp>& clauses) {
  const auto add = [&](UOp gate) { std::ranges::copy(splitClauses(gate), std::back_inserter(clauses)); };
  if (term.op() == Op::Load && term.srcCount() > 2 && isIdentity(term.src(1), op)) {
    add(term.src(2));
  } else if (term.op() == Op::Where && isIdentity(term.src(2), op)) {
    add(term.src(0)), addClauses(term.src(1), op, clauses);
  } else if (term.op() == Op::Reduce && opOf(term) == op) {
    addClauses(term.src(0), op, clauses);
  } else if (term.op() == Op::Mul && op == Op::Add) {
    for (UOp factor : term.src()) addClauses(factor, op, clauses);
  }
}

/// The first iteration of a loop for which a clause holds, or the one behind the last.
struct Edge {
  UOp clause, first, end;
};

/// Not a loop of the reduction itself, nor of one inside of it.
bool isLoopAround(UOp range, UOp reduce) {
  const AxisType type = axisType(range);
  const bool isLoop = type == AxisType::Loop || type == AxisType::Thread || type == AxisType::Reduce;
  return isLoop && std::ranges::find(reduce.ranges(), range) != reduce.ranges().end();
}

/// Of a comparison of indices that holds from an iteration on or up to one, wherever the loops around the reduction
/// are, and that only a run can tell.
std::optional<Edge> edgeOf(Graph& g, UOp clause, UOp range, UOp reduce) {
  const bool isBelow = clause.op() == Op::Lt;
  if ((!isBelow && clause.op() != Op::Le) || clause.src(0).dtype() != DType::Index) return std::nullopt;
  Linear form = linearOf(clause.src(0));
  form.add(linearOf(clause.src(1)), -1);
  const int64_t step = form.coefOf(range);
  if (form.overflow || step == 0) return std::nullopt;
  Linear rest;  // step * range + rest < 0, or <= 0
  bool isFree = false;
  for (const Term& t : form.terms) {
    if (t.base == range) continue;
    const std::span<const UOp> around = t.base.ranges();
    if (!std::ranges::all_of(around, [&](UOp r) { return r != range && isLoopAround(r, reduce); })) return std::nullopt;
    isFree |= std::ranges::any_of(toposort(t.base), [](UOp n) { return n.op() == Op::Var; });
    rest.add(t.base, t.coef);
  }
  rest.add(form.constant + (isBelow ? 0 : -1));
  const auto quotient = [&](int64_t factor, int64_t more) -> UOp {  // floor((factor * rest + more) / |step|)
    Linear scaled;
    scaled.add(rest, factor), scaled.add(more);
    const UOp whole = scaled.overflow ? UOp() : build(g, scaled);
    return whole ? g.alu(Op::Floordiv, {whole, g.index(std::abs(step))}) : UOp();
  };
  Edge edge{clause, {}, {}};
  if (step > 0) edge.end = quotient(-1, step - 1);
  if (step < 0) edge.first = quotient(1, -step);
  if (!(edge.end || edge.first) || !isFree) return std::nullopt;
  return edge;
}

struct Bounds {
  std::vector<UOp> clauses;  // that hold inside of them
  UOp first, end;
};

/// Where both edges of a loop depend on a run, or on the loops around it.
std::optional<Bounds> boundsOf(Graph& g, UOp range, UOp reduce) {
  std::vector<UOp> clauses;
  addClauses(reduce.src(0), opOf(reduce), clauses);
  Bounds bounds{{}, g.index(0), range.src(0)};
  for (UOp clause : clauses) {
    const std::optional<Edge> edge = edgeOf(g, clause, range, reduce);
    if (!edge) continue;
    bounds.clauses.push_back(clause);
    if (edge->first) bounds.first = g.alu(Op::Max, {bounds.first, edge->first});
    if (edge->end) bounds.end = g.alu(Op::Min, {bounds.end, edge->end});
  }
  return bounds.clauses.empty() ? std::nullopt : std::optional(bounds);
}

struct GatedLoop {
  UOp range, reduce;
  Bounds bounds;
};

/// The first loop that one reduction closes and that has such edges.
std::optional<GatedLoop> gatedLoop(Graph& g, UOp sink, Numerics numerics) {
  std::vector<std::pair<UOp, UOp>> loops;  // and the reduction that closes each
  std::vector<UOp> all;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Reduce) continue;
    const bool isExact = opOf(n) == Op::Max || opOf(n) == Op::Min;
    for (UOp r : n.src().subspan(1)) {
      if (r.op() == Op::Range && axisType(r) == AxisType::Reduce && r.src(0).isConst() &&
          (isExact || numerics != Numerics::Strict))
        loops.emplace_back(r, n);
      all.push_back(r);
    }
  }
  for (const auto& [range, reduce] : loops) {
    if (std::ranges::count(all, range) > 1) continue;
    if (std::optional<Bounds> bounds = boundsOf(g, range, reduce)) return GatedLoop{range, reduce, std::move(*bounds)};
  }
  return std::nullopt;
}

}  // namespace

bool hasGatedSums(Graph& g, UOp sink, Numerics numerics) { return gatedLoop(g, sink, numerics).has_value(); }

UOp boundSums(Graph& g, UOp sink, Numerics numerics) {
  while (const std::optional<GatedLoop> loop = gatedLoop(g, sink, numerics)) {
    const AxisArg arg = loop->range.argAs<AxisArg>();
    const UOp first = simplify(g, loop->bounds.first);
    const UOp count = g.alu(Op::Max, {g.alu(Op::Sub, {loop->bounds.end, first}), g.index(0)});
    const UOp shorter = g.range(simplify(g, count), arg.id, arg.type);
    std::vector<UOp> from = loop->bounds.clauses, to(from.size(), g.boolean(true));
    from.push_back(loop->range), to.push_back(g.alu(Op::Add, {shorter, first}));
    std::vector<UOp> src(loop->reduce.src().begin(), loop->reduce.src().end());
    src[0] = substitute(g, src[0], from, to);
    std::ranges::replace(src, loop->range, shorter);
    const UOp reduce = g.make(Op::Reduce, loop->reduce.dtype(), src, loop->reduce.arg());
    sink = substitute(g, sink, {&loop->reduce, 1}, {&reduce, 1});
  }
  return sink;
}

}  // namespace svod
