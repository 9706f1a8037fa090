// Masks and shifts.
#include "symbolic/groups.h"

namespace svod {

namespace {

int widthOf(const Match& m) { return info(m.node.dtype()).bits; }

// Both counts and their sum are real shift counts.
bool countsFit(const Match& m) {
  return m[c0] >= 0 && m[c1] >= 0 && m[c0] < widthOf(m) && m[c1] < widthOf(m) && m[c0] + m[c1] < widthOf(m);
}
bool sameCount(const Match& m) { return m[c0] == m[c1] && m[c0] >= 0 && m[c0] < widthOf(m); }

// The mask clears only bits that the shift drops.
bool maskBelowShift(const Match& m) {
  if (m[c1] < 0 || m[c1] >= widthOf(m)) return false;
  int64_t low = static_cast<int64_t>((uint64_t{1} << m[c1]) - 1);
  DType d = m.node.dtype();
  return Scalar::ofInt(d, m[c0] | low) == Scalar::ofInt(d, -1);
}

bool insideMask(const Match& m) {
  Interval b = boundsOf(m, m[x]);
  return m[x].dtype() != DType::U64 && b.min >= 0 && isLowMask(m[c0]) && b.max <= m[c0];
}

constexpr Rule kBitRows[] = {
    rule("xor-twice", either((x ^ y) ^ y), x, kIntegral),
    rule("xor-twice-left", either((y ^ x) ^ y), x, kIntegral),
    rule("shl-shl", (x << c0) << c1, x << fold(c0 + c1), kInts, countsFit),
    rule("shr-shr", (x >> c0) >> c1, x >> fold(c0 + c1), kInts, countsFit),
    rule("shl-shr", (x << c0) >> c1, x& fold(op(Op::Shr, -1, c0)), kUnsigned, sameCount),
    rule("shr-shl", (x >> c0) << c1, x& fold(op(Op::Shl, -1, c0)), kFixed, sameCount),
    rule("mask-shr", (x & c0) >> c1, x >> c1, kFixed, maskBelowShift),
    rule("mask-covers", x& c0, x, kInts, insideMask),
    rule("not-xor", (!x) ^ (!y), x ^ y, kIntegral),
    rule("and-or-constant", (x | c0) & c1, (x & c1) | fold(c0 & c1), kFixed,
         [](const Match& m) { return (m[c0] & m[c1]) == 0; }),
};

}  // namespace

constinit const RuleGroup kBitRules{"bits", kBitRows};

}  // namespace svod
