// Comparisons: one form per meaning, constants on the right where that needs no other op.
#include "symbolic/groups.h"

namespace svod {

namespace {

bool notMax(const Match& m) {
  return m.scalar(c0) != Scalar::ofInt(m.scalar(c0).dtype(), maxInt(m.scalar(c0).dtype()));
}
bool belowMax(const Match& m) { return m[x].dtype() != DType::U64 && notMax(m); }
bool aboveMin(const Match& m) { return m[x].dtype() != DType::U64 && m[c0] != minInt(m.scalar(c0).dtype()); }

// x + c compared for equality with a constant wraps on both sides alike.
constexpr Rule kCompareRows[] = {
    rule("lt-self", x < x, 0, kAllDomains),
    rule("le-self", x <= x, 1, kIntegral),
    rule("eq-self", eq(x, x), 1, kIntegral),
    rule("ne-self", ne(x, x), 0, kIntegral),
    rule("lt-zero-unsigned", x < 0, 0, kUnsigned),
    rule("zero-le-unsigned", op(Op::Le, 0, x), 1, kUnsigned),
    rule("not-lt", !(x < y), y <= x, kBools, [](const Match& m) { return !isFloat(m[x].dtype()); }),
    rule("not-le", !(x <= y), y < x, kBools, [](const Match& m) { return !isFloat(m[x].dtype()); }),
    rule("not-eq", !eq(x, y), ne(x, y), kBools),
    rule("not-ne", !ne(x, y), eq(x, y), kBools),
    rule("le-constant", x <= c0, x < fold(c0 + 1), kFixed, belowMax),
    rule("constant-le", op(Op::Le, c0, x), op(Op::Lt, fold(c0 - 1), x), kFixed, aboveMin),
    rule("eq-add-constant", eq(x + c0, c1), eq(x, fold(c1 - c0)), kFixed),
    rule("ne-add-constant", ne(x + c0, c1), ne(x, fold(c1 - c0)), kFixed),
    rule("eq-add-same", eq(either(x + y), either(x + z)), eq(y, z), kFixed),
    rule("ne-add-same", ne(either(x + y), either(x + z)), ne(y, z), kFixed),
    rule("eq-not", eq(!x, !y), eq(x, y), kIntegral),
    rule("ne-not", ne(!x, !y), ne(x, y), kIntegral),
    rule("eq-neg", eq(-x, -y), eq(x, y), kFixed | kFloats),
    rule("lt-neg", (-x) < (-y), y < x, kFloats),
};

}  // namespace

constinit const RuleGroup kCompareRules{"compares", kCompareRows};

}  // namespace svod
