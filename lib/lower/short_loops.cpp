#include "lower/short_loops.h"

#include <algorithm>
#include <optional>

#include "ir/ranges.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool contains(std::span<const UOp> list, UOp node) { return std::ranges::find(list, node) != list.end(); }

/// What gates every store that a loop closes, and for how many of its iterations that can hold.
struct Limit {
  UOp clause, count;
  bool isExact = true;  // it holds for all iterations before that
  bool operator==(const Limit&) const = default;
};

/// The loops that run inside of `range`, and what stands for copies and lanes.
std::vector<UOp> inside(UOp end, UOp range) {
  std::vector<UOp> found;
  bool isBehind = false;
  for (UOp r : end.src().subspan(1)) {
    const AxisType type = axisType(r);
    if (isBehind || (type != AxisType::Loop && type != AxisType::Thread)) found.push_back(r);
    isBehind |= r == range;
  }
  return found;
}

/// Of a comparison of indices that holds for the first iterations of `range`, if for any, wherever the loops around it
/// are.
std::optional<Limit> limitOf(Graph& g, UOp clause, UOp range, std::span<const UOp> inner) {
  const bool isBelow = clause.op() == Op::Lt;
  if ((!isBelow && clause.op() != Op::Le) || clause.src(0).dtype() != DType::Index) return std::nullopt;
  Linear form = linearOf(clause.src(0));
  form.add(linearOf(clause.src(1)), -1);
  const int64_t step = form.coefOf(range);
  if (form.overflow || step < 1) return std::nullopt;
  Limit limit{clause, {}};
  Linear room;  // step * range < room
  bool isFree = false;
  for (const Term& t : form.terms) {
    if (t.base == range) continue;
    if (t.base.dependsOn(range)) return std::nullopt;
    isFree |= std::ranges::any_of(toposort(t.base), [](UOp n) { return n.op() == Op::Var; });
    if (std::ranges::none_of(t.base.ranges(), [&](UOp r) { return contains(inner, r); })) {
      room.add(t.base, -t.coef);
    } else {
      if (!contains(inner, t.base) || t.coef < 0) return std::nullopt;  // its first iteration is the least
      limit.isExact = false;
    }
  }
  room.add(-form.constant + (isBelow ? 0 : 1) + step - 1);
  if (!isFree || room.overflow) return std::nullopt;
  const UOp whole = build(g, room), steps = whole ? g.alu(Op::Floordiv, {whole, g.index(step)}) : UOp();
  if (!steps) return std::nullopt;
  limit.count = simplify(g, g.alu(Op::Max, {g.alu(Op::Min, {steps, range.src(0)}), g.index(0)}));
  return limit;
}

std::vector<UOp> storesOf(UOp end) {
  const UOp body = end.src(0);
  return body.op() == Op::Group ? std::vector<UOp>(body.src().begin(), body.src().end()) : std::vector<UOp>{body};
}

/// The limit that all stores inside of the loop have, in every nest that closes it.
std::optional<Limit> limitOfStores(Graph& g, UOp sink, UOp range) {
  std::optional<Limit> found;
  for (UOp end : sink.src()) {
    if (end.op() != Op::End || !contains(end.src().subspan(1), range)) continue;
    const std::vector<UOp> inner = inside(end, range);
    for (UOp store : storesOf(end)) {
      std::optional<Limit> limit;
      if (store.op() == Op::Store && store.srcCount() > 2)
        for (UOp clause : splitClauses(store.src(2)))
          if (!limit || !limit->isExact)
            if (std::optional<Limit> other = limitOf(g, clause, range, inner)) limit = std::move(other);
      if (!limit || (found && *found != *limit)) return std::nullopt;
      found = std::move(limit);
    }
  }
  return found;
}

}  // namespace

UOp shortenLoops(Graph& graph, UOp sink) {
  std::vector<UOp> loops;
  for (UOp end : sink.src())
    if (end.op() == Op::End)
      for (UOp r : end.src().subspan(1))
        if (axisType(r) == AxisType::Loop && r.src(0).isConst() && !contains(loops, r)) loops.push_back(r);
  for (UOp r : loops) {
    const std::optional<Limit> limit = limitOfStores(graph, sink, r);
    if (!limit) continue;
    const AxisArg arg = r.argAs<AxisArg>();
    std::vector<UOp> from{r}, to{graph.range(limit->count, arg.id, arg.type)};
    if (limit->isExact) from.insert(from.begin(), limit->clause), to.insert(to.begin(), graph.boolean(true));
    sink = substitute(graph, sink, from, to);
  }
  return sink;
}

}  // namespace svod
