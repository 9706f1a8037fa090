// Index arithmetic through linear forms: one canonical expression for every value the forms can tell equal.
#include <algorithm>
#include <numeric>

#include "symbolic/divmod.h"
#include "symbolic/groups.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

IndexMath mathOf(const Match& m) { return {m.graph, factsOf(m)}; }

UOp sum(const Match& m) {
  IndexMath math = mathOf(m);
  Linear form = math.linear(m.node);
  if (form.overflow) return {};
  math.recombine(form);
  return build(m.graph, form);
}

// Products of sums with few parts are multiplied out; factors stand in structural order, constants in front.
UOp product(const Match& m) {
  IndexMath math = mathOf(m);
  Linear a = math.linear(m.node.src(0)), b = math.linear(m.node.src(1));
  if (a.overflow || b.overflow) return {};
  if (a.isConst() || b.isConst()) return sum(m);
  size_t parts = (a.terms.size() + (a.constant != 0)) * (b.terms.size() + (b.constant != 0));
  if (parts > 6) return {};
  Linear result;
  result.add(a.constant == 0 ? Linear() : b, a.constant);
  for (const Term& t : a.terms) {
    int64_t coef = 0;
    for (const Term& u : b.terms) {
      result.overflow |= __builtin_mul_overflow(t.coef, u.coef, &coef);
      std::vector<UOp> factors;
      flattenFactors(t.base, factors);
      flattenFactors(u.base, factors);
      result.add(buildProduct(m.graph, std::move(factors)), coef);
    }
    result.overflow |= __builtin_mul_overflow(t.coef, b.constant, &coef);
    result.add(t.base, coef);
  }
  return build(m.graph, result);
}

UOp division(const Match& m) {
  IndexMath math = mathOf(m);
  UOp divisor = m.node.src(1);
  Linear numerator = math.linear(m.node.src(0));
  bool isDiv = m.node.op() == Op::Floordiv;
  Interval d = math.bounds(divisor);
  bool negate = d.isConst() && d.min < 0 && d.min != INT64_MIN;  // x // -c = -x // c, x % -c = -(-x % c)
  if (negate) {
    Linear negated;
    negated.add(numerator, -1);
    numerator = std::move(negated);
    divisor = m.graph.index(-d.min);
  }
  std::optional<Linear> result = isDiv ? math.floorDiv(numerator, divisor) : math.floorMod(numerator, divisor);
  if (!result || result->overflow) return {};
  if (negate && !isDiv) {
    Linear negated;
    negated.add(*result, -1);
    result = std::move(negated);
  }
  return build(m.graph, *result);
}

// terms < limit
struct Bound {
  Linear terms;  // constant 0
  int64_t limit;
};

Bound moveConstant(Linear form, int64_t limit, bool& overflow) {
  overflow |= form.overflow || __builtin_sub_overflow(limit, form.constant, &limit);
  form.constant = 0;
  return {std::move(form), limit};
}

// f * s + p < limit with p in an interval that cannot change the answer: s < q + 1.
bool dropSmallTerms(const IndexMath& math, Bound& b) {
  std::vector<int64_t> steps;
  for (const Term& t : b.terms.terms)
    if (t.coef != INT64_MIN && std::abs(t.coef) > 1) steps.push_back(std::abs(t.coef));
  std::sort(steps.begin(), steps.end(), std::greater<>());
  for (int64_t f : steps) {
    Linear multiples, rest;
    for (const Term& t : b.terms.terms) t.coef % f == 0 ? multiples.add(t.base, t.coef / f) : rest.add(t.base, t.coef);
    Interval p = math.bounds(rest);
    int64_t low = 0, high = 0, last = 0;
    if (__builtin_sub_overflow(b.limit, 1, &last) || __builtin_sub_overflow(last, p.max, &low) ||
        __builtin_sub_overflow(last, p.min, &high))
      continue;
    int64_t q = floorDivide(low, f);
    if (q != floorDivide(high, f) || q == INT64_MAX) continue;
    b = {std::move(multiples), q + 1};
    return true;
  }
  return false;
}

// A lone quotient: x // d < c is x < c * d, and c < x // d is (c + 1) * d - 1 < x.
bool dropQuotient(const IndexMath& math, Bound& b) {
  if (b.terms.terms.size() != 1) return false;
  Term t = b.terms.terms[0];
  bool quotient = t.base.op() == Op::Floordiv && t.base.src(1).isConst() && t.base.src(1).constInt() > 0;
  if (!quotient || (t.coef != 1 && t.coef != -1)) return false;
  int64_t d = t.base.src(1).constInt(), limit = 0;
  bool overflow = false;
  if (t.coef == 1)
    overflow |= __builtin_mul_overflow(b.limit, d, &limit);
  else
    overflow |= __builtin_sub_overflow(b.limit, 1, &limit) || __builtin_mul_overflow(limit, d, &limit) ||
                __builtin_add_overflow(limit, 1, &limit);
  Linear inner;
  inner.add(math.linear(t.base.src(0)), t.coef);
  Bound next = moveConstant(std::move(inner), limit, overflow);
  if (overflow) return false;
  b = std::move(next);
  return true;
}

// Positive multiples of nonnegative values: their sum is 0 exactly when the plain sum is.
void dropCoefficients(const IndexMath& math, Bound& b) {
  int64_t sign = b.limit == 1 ? 1 : b.limit == 0 ? -1 : 0;
  if (sign == 0) return;
  for (const Term& t : b.terms.terms)
    if ((t.coef > 0) != (sign > 0) || math.bounds(t.base).min < 0) return;
  for (Term& t : b.terms.terms) t.coef = sign;
}

// An index may be data, such as any number of an i64: what is added to it might leave i64 where the comparison as it is
// written does not.
bool mayLeaveI64(const Linear& sum) {
  __int128 min = sum.constant, max = sum.constant;
  for (const Term& t : sum.terms) {
    const Interval bounds = t.base.bounds();
    min += static_cast<__int128>(t.coef) * bounds.min, max += static_cast<__int128>(t.coef) * bounds.max;
  }
  return min < INT64_MIN || max > INT64_MAX;
}

UOp emitLess(Graph& graph, const Bound& b) {
  Linear left, right;
  for (const Term& t : b.terms.terms) {
    if (t.coef == INT64_MIN) return {};
    t.coef > 0 ? left.add(t.base, t.coef) : right.add(t.base, -t.coef);
  }
  if (mayLeaveI64(left) || mayLeaveI64(right)) return {};
  if (left.terms.empty()) {
    if (b.limit == INT64_MIN) return {};
    return graph.alu(Op::Lt, {graph.index(-b.limit), build(graph, right)});
  }
  right.add(b.limit);
  return mayLeaveI64(right) ? UOp() : graph.alu(Op::Lt, {build(graph, left), build(graph, right)});
}

// difference < 0
UOp lessThanZero(const IndexMath& math, Linear difference) {
  if (difference.overflow) return {};
  if (math.alwaysNegative(difference)) return math.graph.boolean(true);
  Linear opposite;  // difference >= 0 when -difference - 1 < 0
  opposite.add(difference, -1);
  opposite.add(-1);
  if (math.alwaysNegative(opposite)) return math.graph.boolean(false);
  bool overflow = false;
  Bound b = moveConstant(std::move(difference), 0, overflow);
  if (overflow) return {};
  for (bool changed = true; changed;) {
    int64_t g = gcdOfTerms(b.terms);
    if (g > 1) {
      for (Term& t : b.terms.terms) t.coef /= g;
      b.limit = b.limit == INT64_MIN ? -(INT64_MAX / g) - 1 : -floorDivide(-b.limit, g);
    }
    changed = dropSmallTerms(math, b) || dropQuotient(math, b);
    if (b.terms.isConst()) return math.graph.boolean(0 < b.limit);
  }
  dropCoefficients(math, b);
  return emitLess(math.graph, b);
}

UOp less(const Match& m) {
  IndexMath math = mathOf(m);
  Linear difference = math.linear(m.node.src(0));
  difference.add(math.linear(m.node.src(1)), -1);
  if (m.node.op() == Op::Le) difference.add(-1);
  return lessThanZero(math, std::move(difference));
}

UOp equal(const Match& m) {
  IndexMath math = mathOf(m);
  bool isEq = m.node.op() == Op::Eq;
  Linear difference = math.linear(m.node.src(0));
  difference.add(math.linear(m.node.src(1)), -1);
  if (difference.overflow) return {};
  Interval b = math.bounds(difference);
  if (b.isConst() && b.min == 0) return m.graph.boolean(isEq);
  Linear opposite;
  opposite.add(difference, -1);
  int64_t g = gcdOfTerms(difference);
  bool never =
      math.alwaysNegative(difference) || math.alwaysNegative(opposite) || (g > 1 && difference.constant % g != 0);
  if (never || difference.isConst()) return m.graph.boolean(never || difference.constant != 0 ? !isEq : isEq);
  UOp first = difference.terms[0].base;  // its coefficient gets the positive sign
  for (const Term& t : difference.terms)
    if (structuralLess(t.base, first)) first = t.base;
  int64_t divisor = difference.coefOf(first) < 0 ? -g : g;
  Linear left, right;
  for (const Term& t : difference.terms) {
    if (t.coef == INT64_MIN) return {};
    int64_t coef = t.coef / divisor;
    coef > 0 ? left.add(t.base, coef) : right.add(t.base, -coef);
  }
  if (difference.constant == INT64_MIN) return {};
  right.add(-(difference.constant / divisor));
  return m.graph.alu(m.node.op(), {build(m.graph, left), build(m.graph, right)});
}

// max and min of values whose difference has a known sign; other operands in structural order.
UOp extreme(const Match& m) {
  IndexMath math = mathOf(m);
  UOp a = m.node.src(0), b = m.node.src(1);
  Linear difference = math.linear(a);
  difference.add(math.linear(b), -1);
  if (difference.overflow) return {};
  Interval d = math.bounds(difference);
  bool isMax = m.node.op() == Op::Max;
  if (d.min >= 0) return isMax ? a : b;
  if (d.max <= 0) return isMax ? b : a;
  if (!a.isConst() && !b.isConst() && structuralLess(b, a)) return m.graph.alu(m.node.op(), {b, a});
  return {};
}

bool comparesIndices(UOp condition) {
  for (UOp c : splitClauses(condition)) {
    UOp compare = c.op() == Op::Not ? c.src(0) : c;
    if (has(compare.op(), Comparison) && compare.src(0).dtype() == DType::Index) return true;
  }
  return false;
}

// Each branch simplified where it is taken; only what becomes smaller, so that branches settle.
UOp branches(const Match& m) {
  constexpr size_t kMaxNodes = 64;
  UOp condition = m.node.src(0), a = m.node.src(1), b = m.node.src(2);
  if (m.node.dtype() != DType::Index || !m.node.isScalar() || !comparesIndices(condition)) return {};
  auto under = [&](UOp branch, UOp gate) {
    size_t nodes = branch.isConst() ? 0 : toposort(branch).size();
    if (nodes < 2 || nodes > kMaxNodes) return branch;
    UOp simpler = simplifyUnder(m.graph, branch, gate);
    return toposort(simpler).size() < nodes ? simpler : branch;
  };
  return m.graph.where(condition, under(a, condition), under(b, m.graph.alu(Op::Not, {condition})));
}

constexpr Rule kIndexRows[] = {
    native("index-add", op(Op::Add), kIndices, sum),
    native("index-sub", op(Op::Sub), kIndices, sum),
    native("index-neg", op(Op::Neg), kIndices, sum),
    native("index-shl", x << c0, kIndices, sum),
    rule("index-shr", x >> c0, x / fold(op(Op::Shl, 1, c0)), kIndices,
         [](const Match& m) { return m[c0] >= 0 && m[c0] < 62; }),
    rule("index-mask", x& c0, x % fold(c0 + 1), kIndices, [](const Match& m) { return isLowMask(m[c0]); }),
    native("index-mul", op(Op::Mul), kIndices, product),
    native("index-floordiv", op(Op::Floordiv), kIndices, division),
    native("index-floormod", op(Op::Floormod), kIndices, division),
    native("index-lt", op(Op::Lt), kIndices, less),
    native("index-le", op(Op::Le), kIndices, less),
    native("index-eq", op(Op::Eq), kIndices, equal),
    native("index-ne", op(Op::Ne), kIndices, equal),
    native("index-where", op(Op::Where), kIndices, branches),
    native("index-max", op(Op::Max), kIndices, extreme),
    native("index-min", op(Op::Min), kIndices, extreme),
};

}  // namespace

constinit const RuleGroup kIndexRules{"index", kIndexRows};

}  // namespace svod
