// Logic on bool values.
#include <algorithm>
#include <vector>

#include "symbolic/groups.h"

namespace svod {

namespace {

// v < limit (upper) or limit < v
struct Limit {
  UOp value;
  bool upper;
  int64_t limit;
};
std::optional<Limit> limitOf(UOp c) {
  if (c.op() != Op::Lt || !isInt(c.src(0).dtype()) || c.src(0).dtype() == DType::U64) return std::nullopt;
  if (c.src(1).isConst()) return Limit{c.src(0), true, c.src(1).constInt()};
  if (c.src(0).isConst()) return Limit{c.src(1), false, c.src(0).constInt()};
  return std::nullopt;
}

// Keeps the tighter of two limits on one value; a single value left becomes an equality. False: no value is left.
bool mergeLimits(Graph& g, std::vector<UOp>& clauses) {
  for (size_t i = 0; i < clauses.size(); ++i) {
    std::optional<Limit> a = limitOf(clauses[i]);
    for (size_t j = i + 1; a && j < clauses.size(); ++j) {
      std::optional<Limit> b = limitOf(clauses[j]);
      if (!b || a->value != b->value) continue;
      if (a->upper == b->upper) {
        bool first = a->upper ? a->limit <= b->limit : a->limit >= b->limit;
        clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(first ? j : i));
        return mergeLimits(g, clauses);
      }
      __int128 gap = static_cast<__int128>(a->upper ? a->limit : b->limit) - (a->upper ? b->limit : a->limit);
      if (gap <= 1) return false;
      if (gap > 2) continue;
      int64_t only = (a->upper ? a->limit : b->limit) - 1;
      clauses[i] = g.alu(Op::Eq, {a->value, g.constant(Scalar::ofInt(a->value.dtype(), only))});
      clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(j));
      return mergeLimits(g, clauses);
    }
  }
  return true;
}

// A chain of And (or Or) as a sorted set of clauses; a clause together with its complement decides the chain.
UOp sortClauses(const Match& m) {
  Op op = m.node.op();
  if (!m.node.isScalar()) return {};
  std::vector<UOp> clauses, pending{m.node};
  while (!pending.empty()) {
    UOp n = pending.back();
    pending.pop_back();
    if (n.op() == op)
      pending.insert(pending.end(), {n.src(1), n.src(0)});
    else
      clauses.push_back(n);
  }
  std::sort(clauses.begin(), clauses.end(),
            [](UOp a, UOp b) { return a.isConst() != b.isConst() ? b.isConst() : structuralLess(a, b); });
  clauses.erase(std::unique(clauses.begin(), clauses.end()), clauses.end());
  if (op == Op::And && !mergeLimits(m.graph, clauses)) return m.graph.boolean(false);
  UOp chain;
  for (UOp c : clauses) {
    if (c.op() == Op::Not && std::find(clauses.begin(), clauses.end(), c.src(0)) != clauses.end())
      return m.graph.boolean(op == Op::Or);
    chain = chain ? m.graph.alu(op, {chain, c}) : c;
  }
  return chain;
}

constexpr Rule kBoolRows[] = {
    rule("bool-mul", x* y, x& y, kBools),
    rule("bool-min", min(x, y), x& y, kBools),
    rule("bool-add", x + y, x | y, kBools),
    rule("bool-max", max(x, y), x | y, kBools),
    rule("bool-eq-true", eq(x, 1), x, kBools),
    rule("bool-eq-false", eq(x, 0), !x, kBools),
    rule("bool-ne-true", ne(x, 1), !x, kBools),
    rule("bool-ne-false", ne(x, 0), x, kBools),
    rule("bool-lt", x < y, (!x) & y, kBools),
    rule("bool-le", x <= y, (!x) | y, kBools),
    rule("and-not", either(x & !x), 0, kBools),
    rule("or-not", either(x | !x), 1, kBools),
    rule("not-and", !(x & y), (!x) | (!y), kBools),
    rule("not-or", !(x | y), (!x) & (!y), kBools),
    rule("and-absorb", either(x& either(x | y)), x, kIntegral),
    rule("or-absorb", either(x | either(x & y)), x, kIntegral),
    rule("and-not-or", either(x& either((!x) | y)), x& y, kIntegral),
    rule("or-not-and", either(x | either((!x) & y)), x | y, kIntegral),
    native("sort-and", op(Op::And), kBools, sortClauses),
    native("sort-or", op(Op::Or), kBools, sortClauses),
};

}  // namespace

constinit const RuleGroup kBoolRules{"bools", kBoolRows};

}  // namespace svod
