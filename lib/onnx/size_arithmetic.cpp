#include "onnx/size_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "frontend/tensor.h"
#include "ir/dim_facts.h"
#include "ir/polynomial.h"

namespace svod {

namespace {

// --- Integers and bools

bool isConstant(UOp u) { return u && u.isConst(); }

// Sizes as Index: constants of other dtypes too.
UOp asIndex(Graph& g, UOp u) { return u.isConst() ? g.index(u.constInt()) : u; }

Dim clamped(Graph& g, Dim x) { return smaller(larger(x, Dim(g, g.index(0))), Dim(g, g.index(1))); }
Dim magnitude(Graph& g, Dim x) { return x.min() >= 0 ? x : larger(x, Dim(g, g.index(0)) - x); }

// 1 where a bool expression is true, else 0; null where that is not known.
Dim indicator(Graph& g, UOp condition) {
  if (condition.isConst()) return Dim(g, g.index(condition.constInt() != 0));
  if (condition.srcCount() == 0 || condition.src(0).dtype() == DType::Void) return Dim();
  const bool compares = has(condition.op(), Comparison) && condition.src(0).dtype() == DType::Index;
  std::vector<Dim> src;
  for (UOp s : condition.src()) {
    src.push_back(compares ? Dim(g, s) : s.dtype() == DType::Bool ? indicator(g, s) : Dim());
    if (!src.back()) return Dim();
  }
  const Dim one(g, g.index(1));
  switch (condition.op()) {
    case Op::Lt: return clamped(g, src[1] - src[0]);
    case Op::Le: return clamped(g, src[1] - src[0] + 1);
    case Op::Ne: return smaller(magnitude(g, src[0] - src[1]), one);
    case Op::Eq: return one - smaller(magnitude(g, src[0] - src[1]), one);
    case Op::And: return src[0] * src[1];
    case Op::Or: return larger(src[0], src[1]);
    case Op::Not: return one - src[0];
    default: return Dim();
  }
}

UOp truth(Graph& g, Op op, UOp a, UOp b) {
  const Truth t = op == Op::Lt   ? lessEqualDims(b, a)  // b <= a is its opposite
                  : op == Op::Le ? lessEqualDims(a, b)
                                 : equalDims(a, b);
  const bool isOpposite = op == Op::Lt || op == Op::Ne;
  if (t == Truth::Always) return g.boolean(!isOpposite);
  if (t == Truth::Never) return g.boolean(isOpposite);
  return g.alu(op, {a, b});
}

// v + (u - v) * condition
UOp chosen(Graph& g, UOp condition, UOp u, UOp v) {
  if (condition.isConst()) return condition.constInt() != 0 ? u : v;
  if (u == v) return u;
  Dim weight = indicator(g, condition);
  if (!weight) return UOp();
  const Dim a(g, asIndex(g, u)), b(g, asIndex(g, v));
  return (b + (a - b) * weight).node();
}

// Toward zero, by a positive number: max(a, 0) // b - max(-a, 0) // b.
Dim truncated(Graph& g, Dim a, Dim b) {
  const Dim zero(g, g.index(0));
  if (lessEqualDims(zero.node(), a.node()) == Truth::Always) return floordiv(a, b);
  if (lessEqualDims(a.node(), zero.node()) == Truth::Always) return zero - floordiv(zero - a, b);
  return floordiv(larger(a, zero), b) - floordiv(larger(zero - a, zero), b);
}

// A number that is proved to be positive as one whose bounds say so; null for others.
Dim divisor(Graph& g, Dim b) {
  if (b.min() > 0) return b;
  const Dim one(g, g.index(1));
  return lessEqualDims(one.node(), b.node()) == Truth::Always ? larger(b, one) : Dim();
}

// A quotient without remainder, whatever the sizes are; null for others. Nothing is asked of a divisor of 0, so the
// sign of this one does not count.
Dim exactly(Graph& g, Dim a, Dim b, size_t mostTerms = kMaxDimTerms) {
  if (b.isConst()) return Dim();
  const auto quotient = exactQuotient(toPolynomial(g, a.node()), toPolynomial(g, b.node()));
  return quotient && quotient->size() <= mostTerms ? Dim(g, toDim(g, *quotient)) : Dim();
}

// Integer division, down or toward zero. A long sum is shorter as a quotient, where the divisor is known to be
// positive.
UOp quotientOf(Graph& g, Op op, Dim a, Dim b) {
  if (const Dim product = exactly(g, a, b, 1)) return product.node();
  if (const Dim by = divisor(g, b)) return (op == Op::Floordiv ? floordiv(a, by) : truncated(g, a, by)).node();
  return exactly(g, a, b).node();
}

UOp integers(Graph& g, Op op, std::span<const UOp> operands) {
  Dim a(g, asIndex(g, operands[0]));
  if (op == Op::Neg) return (Dim(g, g.index(0)) - a).node();
  if (op == Op::Abs) return magnitude(g, a).node();
  if (operands.size() != 2) return UOp();
  Dim b(g, asIndex(g, operands[1]));
  switch (op) {
    case Op::Add: return (a + b).node();
    case Op::Sub: return (a - b).node();
    case Op::Mul: return (a * b).node();
    case Op::Max: return larger(a, b).node();
    case Op::Min: return smaller(a, b).node();
    case Op::Floordiv:
    case Op::Cdiv: return quotientOf(g, op, a, b);
    case Op::Floormod: return (b = divisor(g, b)) ? floormod(a, b).node() : UOp();
    case Op::Cmod: return (b = divisor(g, b)) ? (a - truncated(g, a, b) * b).node() : UOp();
    default: return has(op, Comparison) ? truth(g, op, a.node(), b.node()) : UOp();
  }
}

// --- Floats

struct Fraction {
  Dim above;
  Dim below;  // greater than 0
};

// Integers up to this are floats of the dtype.
int64_t exactUpTo(DType d) {
  switch (d) {
    case DType::F64: return int64_t{1} << 53;
    case DType::F32: return int64_t{1} << 24;
    case DType::F16: return int64_t{1} << 11;
    case DType::BF16: return int64_t{1} << 8;
    default: return 0;
  }
}

bool isExact(Dim d, DType dtype) { return d && d.min() >= -exactUpTo(dtype) && d.max() <= exactUpTo(dtype); }

std::optional<Fraction> fractionOf(Graph& g, UOp u) {
  const Dim one(g, g.index(1));
  if (u.isConst() && !isFloat(u.dtype())) return Fraction{Dim(g, g.index(u.constInt())), one};
  if (u.isConst()) {
    double value = u.constant().asFloat();
    int64_t below = 1;
    while (below < (1 << 12) && value != std::floor(value)) value *= 2, below *= 2;
    if (value != std::floor(value) || !(std::fabs(value) <= 9e15)) return std::nullopt;
    return Fraction{Dim(g, g.index(static_cast<int64_t>(value))), Dim(g, g.index(below))};
  }
  if (!isFloat(u.dtype())) return Fraction{Dim(g, u), one};
  if (u.op() == Op::Cast && u.src(0).dtype() == DType::Index) return Fraction{Dim(g, u.src(0)), one};
  if (u.op() != Op::Fdiv) return std::nullopt;
  auto part = [&](UOp s) {
    return Dim(g, s.isConst() ? g.index(static_cast<int64_t>(s.constant().asFloat())) : s.src(0));
  };
  return Fraction{part(u.src(0)), part(u.src(1))};
}

bool isPowerOfTwo(Dim d) { return d.isConst() && d.constant() > 0 && (d.constant() & (d.constant() - 1)) == 0; }

// a / b as an element, where the float is the fraction, rounded once.
UOp floatOf(Graph& g, DType dtype, Fraction f) {
  if (!f.above || !f.below || f.below.min() <= 0) return UOp();
  const Dim whole = floordiv(f.above, f.below);
  if (whole * f.below == f.above) f = {whole, Dim(g, g.index(1))};
  if (!isExact(f.above, dtype) || !isExact(f.below, dtype)) return UOp();
  auto part = [&](Dim d) {
    return d.isConst() ? g.constant(Scalar::ofFloat(dtype, static_cast<double>(d.constant())))
                       : g.cast(d.node(), dtype);
  };
  return f.below.is(1) ? part(f.above) : g.alu(Op::Fdiv, {part(f.above), part(f.below)});
}

Dim rounded(Graph& g, Op op, const Fraction& f) {
  const Dim zero(g, g.index(0));
  switch (op) {
    case Op::Floor: return floordiv(f.above, f.below);
    case Op::Ceil: return zero - floordiv(zero - f.above, f.below);
    case Op::Trunc: return truncated(g, f.above, f.below);
    case Op::Round: return f.below.is(1) ? f.above : Dim();
    default: return Dim();
  }
}

// Sums and products of fractions are exact only over powers of two; what is rounded already must not be used again.
bool canGoOn(const Fraction& f) { return isPowerOfTwo(f.below); }

UOp binaryFloats(Graph& g, Op op, DType dtype, const Fraction& a, const Fraction& b) {
  if (op == Op::Fdiv) {
    if (!canGoOn(a) || !canGoOn(b)) return UOp();
    if (b.above.min() <= 0) {
      const Dim quotient = exactly(g, a.above * b.below, a.below * b.above);
      return quotient ? floatOf(g, dtype, {quotient, Dim(g, g.index(1))}) : UOp();
    }
    return floatOf(g, dtype, {a.above * b.below, a.below * b.above});
  }
  if (!canGoOn(a) || !canGoOn(b)) return UOp();
  const Dim left = a.above * b.below, right = b.above * a.below, below = a.below * b.below;
  switch (op) {
    case Op::Add: return floatOf(g, dtype, {left + right, below});
    case Op::Sub: return floatOf(g, dtype, {left - right, below});
    case Op::Mul: return floatOf(g, dtype, {a.above * b.above, below});
    case Op::Max: return floatOf(g, dtype, {larger(left, right), below});
    case Op::Min: return floatOf(g, dtype, {smaller(left, right), below});
    default: return has(op, Comparison) ? truth(g, op, left.node(), right.node()) : UOp();
  }
}

UOp floats(Graph& g, Op op, DType dtype, std::span<const UOp> operands) {
  std::optional<Fraction> a = fractionOf(g, operands[0]);
  if (!a) return UOp();
  const Dim zero(g, g.index(0));
  if (op == Op::Cast && isFloat(dtype))
    return isFloat(operands[0].dtype()) && !canGoOn(*a) ? UOp() : floatOf(g, dtype, *a);
  if (op == Op::Cast && dtype == DType::Bool) return truth(g, Op::Ne, a->above.node(), zero.node());
  if (op == Op::Cast) return rounded(g, Op::Trunc, *a).node();
  if (op == Op::Neg) return floatOf(g, dtype, {zero - a->above, a->below});
  if (op == Op::Abs) return floatOf(g, dtype, {magnitude(g, a->above), a->below});
  if (operands.size() == 1) {
    Dim whole = rounded(g, op, *a);
    return whole ? floatOf(g, dtype, {whole, Dim(g, g.index(1))}) : UOp();
  }
  std::optional<Fraction> b = operands.size() == 2 ? fractionOf(g, operands[1]) : std::nullopt;
  return b ? binaryFloats(g, op, dtype, *a, *b) : UOp();
}

UOp bools(Graph& g, Op op, std::span<const UOp> operands) {
  if (op == Op::Not) return g.alu(op, {operands[0]});
  if ((op != Op::And && op != Op::Or) || operands.size() != 2) return UOp();
  for (size_t i = 0; i < 2; ++i)
    if (operands[i].isConst()) return (operands[i].constInt() != 0) == (op == Op::And) ? operands[1 - i] : operands[i];
  return g.alu(op, {operands[0], operands[1]});
}

// An integer of a run wraps at the ends of its dtype; an expression does not.
UOp fitted(Graph& g, DType dtype, UOp result) {
  if (!result || !isInt(dtype)) return result;
  if (result.bounds().min < minInt(dtype) || result.bounds().max > maxInt(dtype)) return UOp();
  return result.isConst() ? g.constant(Scalar::ofInt(dtype, result.constInt())) : result;
}

}  // namespace

UOp sizeArithmetic(Graph& g, Op op, DType dtype, std::span<const UOp> operands) {
  if (std::ranges::all_of(operands, isConstant)) {
    std::vector<Scalar> values;
    for (UOp u : operands) values.push_back(u.constant());
    return g.constant(evalScalar(op, dtype, values));
  }
  if (op == Op::Where && isConstant(operands[0])) return operands[operands[0].constInt() != 0 ? 1 : 2];
  if (op == Op::Where && operands[1] == operands[2]) return operands[1];
  if (dtype == DType::Bool && (op == Op::And || op == Op::Or))
    for (UOp u : operands)
      if (isConstant(u) && u.isConst(op == Op::Or)) return u;
  if (std::ranges::any_of(operands, [](UOp u) { return !u; })) return UOp();
  const bool isFractional = isFloat(dtype) || std::ranges::any_of(operands, [](UOp u) { return isFloat(u.dtype()); });
  if (op == Op::Where && (isFractional || dtype == DType::Bool)) return UOp();
  if (op == Op::Where) return fitted(g, dtype, chosen(g, operands[0], operands[1], operands[2]));
  if (isFractional) {
    if (std::ranges::any_of(operands, [](UOp u) { return u.dtype() == DType::Bool; })) return UOp();
    return fitted(g, dtype, floats(g, op, dtype, operands));
  }
  const bool areBools = std::ranges::all_of(operands, [](UOp u) { return u.dtype() == DType::Bool; });
  if (op == Op::Cast && areBools && dtype == DType::Bool) return operands[0];
  if (op == Op::Cast && areBools) return fitted(g, dtype, indicator(g, operands[0]).node());
  if (areBools) return bools(g, op, operands);
  if (std::ranges::any_of(operands, [](UOp u) { return u.dtype() == DType::Bool; })) return UOp();
  if (op == Op::Cast && dtype == DType::Bool) return truth(g, Op::Ne, operands[0], g.index(0));
  if (op == Op::Cast) return fitted(g, dtype, operands[0]);
  return fitted(g, dtype, integers(g, op, operands));
}

}  // namespace svod
