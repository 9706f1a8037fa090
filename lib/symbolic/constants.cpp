// Folding operations on constants, and the place of constants among operands.
#include <array>
#include <cmath>

#include "symbolic/groups.h"

namespace svod {

namespace {

UOp foldConstants(const Match& m) {
  std::span<const UOp> src = m.node.src();
  std::array<Scalar, 3> in;
  for (size_t i = 0; i < src.size(); ++i) {
    if (!src[i].isConst()) return {};
    in[i] = src[i].constant();
  }
  std::optional<Scalar> value = foldScalar(m.node.op(), m.node.dtype(), {in.data(), src.size()});
  return value ? m.graph.constant(*value) : UOp();
}

UOp constantToRight(const Match& m) {
  UOp a = m.node.src(0), b = m.node.src(1);
  return a.isConst() && !b.isConst() ? m.graph.make(m.node.op(), m.node.dtype(), {b, a}) : UOp();
}

// 1/c is exact, so that x/c and x * (1/c) round the same number.
bool hasExactReciprocal(const Match& m) {
  double c = m.scalar(c0).asFloat();
  int exponent = 0;
  if (!std::isfinite(c) || c == 0 || std::abs(std::frexp(c, &exponent)) != 0.5) return false;
  Scalar in[] = {m.scalar(c0)}, inverse = evalScalar(Op::Recip, in[0].dtype(), in);
  return std::isfinite(inverse.asFloat()) && inverse.asFloat() == 1 / c;
}

// Powers that one correctly rounded op computes.
UOp powOfConstant(const Match& m) {
  double exponent = m.scalar(c0).asFloat();
  if (exponent == 0) return m.graph.constant(Scalar::ofFloat(m.node.dtype(), 1));
  if (exponent == 1) return m[x];
  if (exponent == -1) return m.graph.alu(Op::Recip, {m[x]});
  return exponent == 2 ? m.graph.alu(Op::Mul, {m[x], m[x]}) : UOp();
}

// Rounded more than once, and without logarithms.
UOp powAsProducts(const Match& m) {
  double exponent = m.scalar(c0).asFloat();
  UOp square = m.graph.alu(Op::Mul, {m[x], m[x]});
  if (exponent == 3) return m.graph.alu(Op::Mul, {square, m[x]});
  return exponent == 4 ? m.graph.alu(Op::Mul, {square, square}) : UOp();
}

constexpr Rule kConstantRows[] = {
    native("fold-constants", trait(Elementwise), kAllDomains, foldConstants),
    native("constant-to-right", trait(Elementwise | Commutative), kAllDomains, constantToRight),
    rule("add-constants", (x + c0) + c1, x + fold(c0 + c1), kFixed),
    rule("mul-constants", (x * c0) * c1, x* fold(c0* c1), kFixed),
    rule("and-constants", (x & c0) & c1, x& fold(c0& c1), kIntegral),
    rule("or-constants", (x | c0) | c1, x | fold(c0 | c1), kIntegral),
    rule("xor-constants", (x ^ c0) ^ c1, x ^ fold(c0 ^ c1), kIntegral),
    rule("max-constants", max(max(x, c0), c1), max(x, fold(max(c0, c1))), kAllDomains),
    rule("min-constants", min(min(x, c0), c1), min(x, fold(min(c0, c1))), kAllDomains),
    rule("sub-constant", x - c0, x + fold(-c0), kFixed),
    rule("constant-sub-add", op(Op::Sub, c0, x + c1), op(Op::Sub, fold(c0 - c1), x), kFixed),
    rule("constant-add-sub", op(Op::Sub, c0, x) + c1, op(Op::Sub, fold(c0 + c1), x), kFixed),
    rule("fdiv-power-of-two", op(Op::Fdiv, x, c0), x* fold(op(Op::Recip, c0)), kFloats, hasExactReciprocal),
    native("pow-of-constant", op(Op::Pow, x, c0), kFloats, powOfConstant),
    rule("neg-constant-sub", -op(Op::Sub, c0, x), x + fold(-c0), kFixed),
    rule("neg-mul-constant", -(x* c0), x* fold(-c0), kFixed | kFloats),
    rule("mul-neg-constant", (-x) * c0, x* fold(-c0), kFixed | kFloats),
};

constexpr Rule kContract[] = {native("pow-as-products", op(Op::Pow, x, c0), kFloats, powAsProducts)};

}  // namespace

constinit const RuleGroup kConstantRules{"constants", kConstantRows};
constinit const RuleGroup kConstantContractRules{"constants-contract", kContract};

}  // namespace svod
