// Sums and products of integers that wrap: equal terms join, constants move outward. Index has linear forms instead.
#include "symbolic/groups.h"

namespace svod {

namespace {

constexpr Rule kSumRows[] = {
    rule("double", x + x, x * 2, kFixed),
    rule("add-multiple", either(x + x * c0), x* fold(c0 + 1), kFixed),
    rule("add-multiples", x* c0 + x * c1, x* fold(c0 + c1), kFixed),
    rule("sub-multiple", x* c0 - x, x* fold(c0 - 1), kFixed),
    rule("multiple-sub", x - x * c0, x* fold(1 - c0), kFixed),
    rule("sub-multiples", x* c0 - x * c1, x* fold(c0 - c1), kFixed),
    rule("add-sub", either(x + y) - y, x, kFixed),
    rule("sub-add", either((x - y) + y), x, kFixed),
    rule("sub-sum", x - either(x + y), -y, kFixed),
    rule("sub-difference", x - (x - y), y, kFixed),
    rule("add-constant-outward", either((x + c0) + y), (x + y) + c0, kFixed),
    rule("mul-constant-outward", either((x * c0) * y), (x * y) * c0, kFixed),
    rule("sub-constant-outward", (x + c0) - y, (x - y) + c0, kFixed),
    rule("constant-sub-outward", x - (y + c0), (x - y) + fold(-c0), kFixed),
    rule("add-twice-outside", either((y + x * c0) + x * c1), y + x * fold(c0 + c1), kFixed),
};

}  // namespace

constinit const RuleGroup kSumRules{"sums", kSumRows};

}  // namespace svod
