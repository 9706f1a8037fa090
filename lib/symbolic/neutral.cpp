// Operations with a neutral or absorbing operand, and of a value with itself.
#include "symbolic/groups.h"

namespace svod {

namespace {

bool isAllOnes(const Match& m) { return m.scalar(c0) == Scalar::ofInt(m.scalar(c0).dtype(), -1); }
bool neverZero(const Match& m) {
  Interval b = boundsOf(m, m[x]);
  return m[x].dtype() != DType::U64 && (b.min > 0 || b.max < 0);
}

// floor, ceil, round and trunc change nothing that is already whole.
UOp roundOfWhole(const Match& m) {
  auto rounds = [](Op op) { return op == Op::Trunc || op == Op::Floor || op == Op::Ceil || op == Op::Round; };
  if (!rounds(m.node.op())) return {};
  UOp inner = m.node.src(0);
  bool whole = rounds(inner.op()) || (inner.op() == Op::Cast && !isFloat(inner.src(0).dtype()));
  return whole ? inner : UOp();
}

// A sum is -0 only where all of its terms are: 0 changes no sum that has another one.
UOp zeroOntoSum(const Match& m) {
  for (size_t i : {0, 1}) {
    UOp zero = m.node.src(i), sum = m.node.src(1 - i);
    if (!zero.isConst() || zero.constant() != Scalar::of(zero.dtype(), 0)) continue;
    for (UOp n = sum; n.op() == Op::Add; n = n.src(n.src(0).op() == Op::Add ? 0 : 1))
      for (UOp term : n.src())
        if (term.isConst() && term.constant() != Scalar::ofFloat(term.dtype(), -0.0)) return sum;
  }
  return {};
}

constexpr Rule kNeutralRows[] = {
    rule("add-zero", x + 0, x, kIntegral),
    rule("sub-zero", x - 0, x, kAllDomains),
    rule("mul-one", x * 1, x, kAllDomains),
    rule("mul-zero", x * 0, 0, kIntegral),
    rule("fdiv-one", op(Op::Fdiv, x, 1), x, kFloats),
    rule("fdiv-minus-one", op(Op::Fdiv, x, -1), -x, kFloats),
    rule("mul-minus-one", x * -1, -x, kSigned | kFloats),
    rule("floordiv-one", x / 1, x, kInts),
    rule("cdiv-one", op(Op::Cdiv, x, 1), x, kInts),
    rule("floordiv-minus-one", x / -1, -x, kSigned | kIndices),
    rule("cdiv-minus-one", op(Op::Cdiv, x, -1), -x, kSigned | kIndices),
    rule("floormod-one", x % 1, 0, kInts),
    rule("cmod-one", op(Op::Cmod, x, 1), 0, kInts),
    rule("floordiv-self", x / x, 1, kInts, neverZero),
    rule("cdiv-self", op(Op::Cdiv, x, x), 1, kInts, neverZero),
    rule("floormod-self", x % x, 0, kInts),
    rule("cmod-self", op(Op::Cmod, x, x), 0, kInts),
    rule("shl-zero", x << 0, x, kInts),
    rule("shr-zero", x >> 0, x, kInts),
    rule("zero-shl", op(Op::Shl, 0, x), 0, kInts),
    rule("zero-shr", op(Op::Shr, 0, x), 0, kInts),
    rule("and-zero", x & 0, 0, kIntegral),
    rule("or-zero", x | 0, x, kIntegral),
    rule("xor-zero", x ^ 0, x, kIntegral),
    rule("and-all-ones", x& c0, x, kFixed | kBools, isAllOnes),
    rule("or-all-ones", x | c0, c0, kFixed | kBools, isAllOnes),
    rule("xor-all-ones", x ^ c0, !x, kFixed | kBools, isAllOnes),
    rule("and-self", x& x, x, kIntegral),
    rule("or-self", x | x, x, kIntegral),
    rule("xor-self", x ^ x, 0, kIntegral),
    rule("sub-self", x - x, 0, kInts),
    rule("max-self", max(x, x), x, kAllDomains),
    rule("min-self", min(x, x), x, kAllDomains),
    rule("max-twice", either(max(either(max(x, y)), y)), max(x, y), kAllDomains),
    rule("min-twice", either(min(either(min(x, y)), y)), min(x, y), kAllDomains),
    rule("max-of-min", either(max(x, either(min(x, y)))), x, kInts),
    rule("min-of-max", either(min(x, either(max(x, y)))), x, kInts),
    rule("neg-neg", -(-x), x, kAllDomains),
    rule("not-not", !(!x), x, kIntegral),
    rule("abs-abs", op(Op::Abs, op(Op::Abs, x)), op(Op::Abs, x), kAllDomains),
    rule("abs-neg", op(Op::Abs, -x), op(Op::Abs, x), kSigned | kIndices | kFloats),
    rule("add-neg", x + (-y), x - y, kFixed | kFloats),
    rule("neg-add", op(Op::Add, -x, y), y - x, kFixed | kFloats),
    rule("sub-neg", x - (-y), x + y, kFixed | kFloats),
    rule("neg-sub", -(x - y), y - x, kFixed),
    rule("zero-sub", op(Op::Sub, 0, x), -x, kFixed),
    rule("mul-neg-neg", (-x) * (-y), x* y, kFixed | kFloats),
    rule("abs-unsigned", op(Op::Abs, x), x, kUnsigned),
    rule("recip-one", op(Op::Recip, 1), 1, kFloats),
    native("add-zero-to-sum", op(Op::Add), kFloats, zeroOntoSum),
    native("round-of-whole", trait(Elementwise | FloatOnly), kFloats, roundOfWhole),
};

}  // namespace

constinit const RuleGroup kNeutralRules{"neutral", kNeutralRows};

}  // namespace svod
