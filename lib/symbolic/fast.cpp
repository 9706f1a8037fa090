// Rules that are wrong for NaN, infinities or signed zero, or that reassociate floats: numerics mode `fast` only.
#include "symbolic/groups.h"

namespace svod {

namespace {

constexpr Rule kFastRows[] = {
    rule("fast-add-zero", x + 0, x, kFloats),
    rule("fast-mul-zero", x * 0, 0, kFloats),
    rule("fast-sub-self", x - x, 0, kFloats),
    rule("fast-fdiv-self", op(Op::Fdiv, x, x), 1, kFloats),
    rule("fast-zero-sub", op(Op::Sub, 0, x), -x, kFloats),
    rule("fast-neg-sub", -(x - y), y - x, kFloats),
    rule("fast-double", x + x, x * 2, kFloats),
    rule("fast-add-constants", (x + c0) + c1, x + fold(c0 + c1), kFloats),
    rule("fast-mul-constants", (x * c0) * c1, x* fold(c0* c1), kFloats),
    rule("fast-add-sub", either(x + y) - y, x, kFloats),
    rule("fast-sub-add", either((x - y) + y), x, kFloats),
    rule("fast-fdiv-constant", op(Op::Fdiv, x, c0), x* fold(op(Op::Recip, c0)), kFloats,
         [](const Match& m) { return m.scalar(c0).asFloat() != 0; }),
    rule("fast-where-lt-max", where(x < y, y, x), max(x, y), kFloats),
    rule("fast-where-lt-min", where(x < y, x, y), min(x, y), kFloats),
    rule("fast-mul-one-hot", either(x* where(y, 1, 0)), where(y, x, 0), kFloats),
    rule("fast-eq-self", eq(x, x), 1, kFloats),
    rule("fast-ne-self", ne(x, x), 0, kFloats),
};

}  // namespace

constinit const RuleGroup kFastRules{"fast", kFastRows};

}  // namespace svod
