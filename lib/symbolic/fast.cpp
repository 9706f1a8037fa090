// Rules that are wrong for NaN, infinities or signed zero, or that reassociate floats: numerics mode `fast` only.
#include <cmath>

#include "symbolic/groups.h"

namespace svod {

namespace {

/// Neither infinite nor subnormal: a constant made of others must not lose digits that no operation on x would lose.
bool isNormal(Scalar c) {
  const double size = std::abs(c.asFloat()), largest = maxFinite(c.dtype());
  return size >= 4 / largest && size <= largest;
}

bool isProductNormal(const Match& m) {
  const Scalar factors[] = {m.scalar(c0), m.scalar(c1)};
  return isNormal(evalScalar(Op::Mul, factors[0].dtype(), factors));
}

bool isReciprocalNormal(const Match& m) {
  const Scalar divisor[] = {m.scalar(c0)};
  return isNormal(divisor[0]) && isNormal(evalScalar(Op::Recip, divisor[0].dtype(), divisor));
}

constexpr Rule kFastRows[] = {
    rule("fast-add-zero", x + 0, x, kFloats),
    rule("fast-mul-zero", x * 0, 0, kFloats),
    rule("fast-sub-self", x - x, 0, kFloats),
    rule("fast-fdiv-self", op(Op::Fdiv, x, x), 1, kFloats),
    rule("fast-zero-sub", op(Op::Sub, 0, x), -x, kFloats),
    rule("fast-neg-sub", -(x - y), y - x, kFloats),
    rule("fast-double", x + x, x * 2, kFloats),
    rule("fast-add-constants", (x + c0) + c1, x + fold(c0 + c1), kFloats),
    rule("fast-mul-constants", (x * c0) * c1, x* fold(c0* c1), kFloats, isProductNormal),
    rule("fast-add-sub", either(x + y) - y, x, kFloats),
    rule("fast-sub-add", either((x - y) + y), x, kFloats),
    rule("fast-fdiv-constant", op(Op::Fdiv, x, c0), x* fold(op(Op::Recip, c0)), kFloats, isReciprocalNormal),
    rule("fast-where-lt-max", where(x < y, y, x), max(x, y), kFloats),
    rule("fast-where-lt-min", where(x < y, x, y), min(x, y), kFloats),
    rule("fast-mul-one-hot", either(x* where(y, 1, 0)), where(y, x, 0), kFloats),
    rule("fast-eq-self", eq(x, x), 1, kFloats),
    rule("fast-ne-self", ne(x, x), 0, kFloats),
};

}  // namespace

constinit const RuleGroup kFastRules{"fast", kFastRows};

}  // namespace svod
