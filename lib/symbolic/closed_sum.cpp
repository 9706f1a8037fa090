#include "symbolic/closed_sum.h"

#include <algorithm>
#include <cmath>

#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int kMaxDepth = 24;

// A sum of `extent` equal floats is extent * value, rounded once, when extent is a power of two.
bool isPowerOfTwo(UOp extent) { return extent.isConst() && (extent.constInt() & (extent.constInt() - 1)) == 0; }

}  // namespace

UOp repeated(Graph& g, Op op, UOp value, UOp extent, bool anyFloatSum) {
  if (op == Op::Max || op == Op::Min) return value;
  bool isSum = op == Op::Add;
  if (isFloat(value.dtype()) && !(isSum && (anyFloatSum || isPowerOfTwo(extent)))) return {};
  if (value.dtype() == DType::Bool) return value;
  if (isSum) return g.alu(Op::Mul, {value, g.cast(extent, value.dtype())});
  if (!extent.isConst()) return {};
  UOp power, square = value;
  for (int64_t n = extent.constInt(); n > 0; n >>= 1) {
    if (n & 1) power = power ? g.alu(Op::Mul, {power, square}) : square;
    if (n > 1) square = g.alu(Op::Mul, {square, square});
  }
  return power;
}

UOp Collapse::sum(UOp body, int depth) {
  if (depth > kMaxDepth) return {};
  if (!body.dependsOn(range_)) return isFloat(body.dtype()) ? UOp() : repeated(g_, Op::Add, body, extent_, false);
  if (body.op() == Op::Where) return sumOfWhere(body, depth);
  if (body.op() == Op::Cast && body.src(0).dtype() == DType::Bool)
    return counted(body.src(0), g_.constant(Scalar::of(body.dtype(), 1)));
  if (isFloat(body.dtype())) return {};
  if (body.dtype() == DType::Index)
    if (UOp closed = sumOfLinear(body)) return closed;
  switch (body.op()) {
    case Op::Add:
    case Op::Sub: {
      UOp a = sum(body.src(0), depth + 1), b = a ? sum(body.src(1), depth + 1) : UOp();
      return b ? g_.alu(body.op(), {a, b}) : UOp();
    }
    case Op::Neg: {
      UOp a = sum(body.src(0), depth + 1);
      return a ? g_.alu(Op::Neg, {a}) : UOp();
    }
    case Op::Mul:
      for (size_t i : {0, 1}) {
        if (body.src(i).dependsOn(range_)) continue;
        UOp a = sum(body.src(1 - i), depth + 1);
        return a ? g_.alu(Op::Mul, {a, body.src(i)}) : UOp();
      }
      return {};
    case Op::Cast: {  // narrowing keeps sums
      UOp inner = body.src(0);
      if (!isInt(inner.dtype()) || !isInt(body.dtype()) || info(inner.dtype()).bits < info(body.dtype()).bits)
        return {};
      UOp a = sum(inner, depth + 1);
      return a ? g_.cast(a, body.dtype()) : UOp();
    }
    default: return {};
  }
}

UOp Collapse::count(UOp condition, int depth) {
  if (depth > kMaxDepth) return {};
  if (!condition.dependsOn(range_)) return g_.where(condition, extent_, g_.index(0));
  if (condition.op() == Op::Not) {
    UOp inner = count(condition.src(0), depth + 1);
    return inner ? g_.alu(Op::Sub, {extent_, inner}) : UOp();
  }
  if (condition.op() == Op::Or) {  // |a or b| = |a| + |b| - |a and b|
    UOp a = count(condition.src(0), depth + 1), b = a ? count(condition.src(1), depth + 1) : UOp();
    UOp both = b ? count(g_.alu(Op::And, {condition.src(0), condition.src(1)}), depth + 1) : UOp();
    return both ? g_.alu(Op::Sub, {g_.alu(Op::Add, {a, b}), both}) : UOp();
  }
  if (condition.op() == Op::Ne) {
    UOp same = count(g_.alu(Op::Eq, {condition.src(0), condition.src(1)}), depth + 1);
    return same ? g_.alu(Op::Sub, {extent_, same}) : UOp();
  }
  return countOfAll(splitClauses(condition));
}

Collapse::Only Collapse::only(UOp condition) {
  std::vector<UOp> clauses = splitClauses(condition);
  for (size_t i = 0; i < clauses.size(); ++i) {
    std::optional<RangeClause> c = parse(clauses[i]);
    if (!c || c->op != Op::Eq || c->coef == 0 || (c->coef != 1 && c->coef != -1)) continue;
    Linear solved;
    solved.add(c->rest, -c->coef);
    UOp value = build(g_, solved);
    if (!value) continue;
    std::vector<UOp> valid{g_.alu(Op::Le, {g_.index(0), value}), g_.alu(Op::Lt, {value, extent_})};
    for (size_t j = 0; j < clauses.size(); ++j)
      if (j != i) valid.push_back(substitute(g_, clauses[j], {&range_, 1}, {&value, 1}));
    return {value, joinClauses(g_, valid)};
  }
  return {};
}

UOp Collapse::toIndex(UOp n) { return simplify(g_, g_.cast(n, DType::Index)); }

std::optional<RangeClause> Collapse::parse(UOp clause) {
  Op op = clause.op();
  bool known = op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne;
  if (!known || !isInt(clause.src(0).dtype()) || clause.src(0).dtype() == DType::U64) return std::nullopt;
  Linear rest = linearOf(toIndex(clause.src(0)));
  rest.add(linearOf(toIndex(clause.src(1))), -1);
  if (op == Op::Le) rest.add(-1), op = Op::Lt;
  int64_t coef = rest.coefOf(range_);
  rest.add(range_, coef == INT64_MIN ? 0 : -coef);
  for (const Term& t : rest.terms)
    if (t.base.dependsOn(range_)) return std::nullopt;
  if (rest.overflow || coef == INT64_MIN) return std::nullopt;
  return RangeClause{op, coef, std::move(rest)};
}

UOp Collapse::countOfAll(const std::vector<UOp>& clauses) {
  UOp low, high = extent_;
  std::vector<UOp> outer;
  for (UOp clause : clauses) {
    if (!clause.dependsOn(range_)) {
      outer.push_back(clause);
      continue;
    }
    std::optional<RangeClause> c = parse(clause);
    if (!c || c->op == Op::Ne) return {};
    if (c->op == Op::Eq) {
      Only one = only(joinClauses(g_, clauses));
      return one.value ? g_.where(one.valid, g_.index(1), g_.index(0)) : UOp();
    }
    Linear bound;  // coef * r + rest < 0
    if (c->coef > 0) {
      bound.add(c->rest, -1);
      bound.add(c->coef - 1);
    } else {
      bound = c->rest;
    }
    bound = math_.floorDiv(bound, std::abs(c->coef));
    if (c->coef < 0) bound.add(1);
    UOp limit = build(g_, bound);
    if (!limit) return {};
    if (c->coef > 0)
      high = g_.alu(Op::Min, {high, limit});
    else
      low = low ? g_.alu(Op::Max, {low, limit}) : g_.alu(Op::Max, {limit, g_.index(0)});
  }
  UOp size = low ? g_.alu(Op::Sub, {high, low}) : high;
  size = g_.alu(Op::Max, {size, g_.index(0)});
  return outer.empty() ? size : g_.where(joinClauses(g_, outer), size, g_.index(0));
}

UOp Collapse::counted(UOp condition, UOp value) {
  if (isFloat(value.dtype()) && !sumsExactly(value)) return {};
  UOp times = count(condition);
  return times ? g_.alu(Op::Mul, {value, g_.cast(times, value.dtype())}) : UOp();
}

bool Collapse::sumsExactly(UOp value) const {
  if (!value.isConst() || extent_.bounds().max > (int64_t{1} << 52)) return false;
  double v = std::abs(value.constant().asFloat());
  if (v == 0 || !std::isfinite(v)) return false;
  int exponent = 0;
  double mantissa = std::frexp(v, &exponent);
  while (mantissa != std::floor(mantissa)) mantissa *= 2;
  double multiples = mantissa * static_cast<double>(extent_.bounds().max);
  return multiples <= std::ldexp(1.0, info(value.dtype()).fractionBits + 1) &&
         v * static_cast<double>(extent_.bounds().max) <= maxFinite(value.dtype());
}

UOp Collapse::sumOfWhere(UOp body, int depth) {
  UOp condition = body.src(0), a = body.src(1), b = body.src(2);
  if (!condition.dependsOn(range_)) {
    UOp x = sum(a, depth + 1), y = x ? sum(b, depth + 1) : UOp();
    return y ? g_.where(condition, x, y) : UOp();
  }
  if (a.dependsOn(range_) || b.dependsOn(range_)) return {};
  if (isFloat(body.dtype())) {
    bool zero = b.isConst() && b.constant() == Scalar::ofFloat(b.dtype(), 0);
    return zero ? counted(condition, a) : UOp();
  }
  UOp first = counted(condition, a);
  if (!first || b.isConst(0)) return first;
  UOp other = counted(g_.alu(Op::Not, {condition}), b);
  return other ? g_.alu(Op::Add, {first, other}) : UOp();
}

UOp Collapse::sumOfLinear(UOp body) {
  Linear form = linearOf(body);
  int64_t coef = form.coefOf(range_), total = 0;
  form.add(range_, coef == INT64_MIN ? 0 : -coef);
  if (form.overflow || coef == INT64_MIN || !extent_.isConst()) return {};
  for (const Term& t : form.terms)
    if (t.base.dependsOn(range_)) return {};
  int64_t n = extent_.constInt();
  if (n < 1 || n > (int64_t{1} << 31) || __builtin_mul_overflow(n * (n - 1) / 2, coef, &total)) return {};
  Linear result;
  result.add(form, n);
  result.add(total);
  return build(g_, result);
}

}  // namespace svod
