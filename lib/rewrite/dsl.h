// The words rules are written in: captures, operators and constructors of patterns and rules.
// Include it only in files that define rules; it puts the short names x, y, z, w, c0, c1, c2 into svod.
#pragma once
#include "rewrite/rule.h"

namespace svod {

inline constexpr Capture x{0}, y{1}, z{2}, w{3};
inline constexpr ConstCapture c0{4}, c1{5}, c2{6};

/// `op` applied to exactly these sources; without sources: any node of that op.
template <class... Sources>
constexpr Pat op(Op o, Sources... sources) {
  Pat p(PatKind::Apply, o, {Pat(sources)...});
  if (sizeof...(sources) == 0) p.nodes[0].srcs = kAnySrcs;
  return p;
}
/// Any node whose op has all these traits (bits of OpTrait).
constexpr Pat trait(uint32_t traits) {
  Pat p(PatKind::Trait, Op::Const, {});
  p.nodes[0].imm = static_cast<int32_t>(traits);
  return p;
}
/// Both operand orders at the root of `p`.
constexpr Pat either(Pat p) {
  p.nodes[0].commuted = true;
  return p;
}
/// The constant an expression over constants evaluates to. Index arithmetic that overflows makes the rule not apply.
constexpr Pat fold(Pat p) { return Pat(PatKind::Fold, Op::Const, {p}); }

constexpr Pat operator+(Pat a, Pat b) { return op(Op::Add, a, b); }
constexpr Pat operator-(Pat a, Pat b) { return op(Op::Sub, a, b); }
constexpr Pat operator*(Pat a, Pat b) { return op(Op::Mul, a, b); }
constexpr Pat operator/(Pat a, Pat b) { return op(Op::Floordiv, a, b); }
constexpr Pat operator%(Pat a, Pat b) { return op(Op::Floormod, a, b); }
constexpr Pat operator&(Pat a, Pat b) { return op(Op::And, a, b); }
constexpr Pat operator|(Pat a, Pat b) { return op(Op::Or, a, b); }
constexpr Pat operator^(Pat a, Pat b) { return op(Op::Xor, a, b); }
constexpr Pat operator<<(Pat a, Pat b) { return op(Op::Shl, a, b); }
constexpr Pat operator>>(Pat a, Pat b) { return op(Op::Shr, a, b); }
constexpr Pat operator<(Pat a, Pat b) { return op(Op::Lt, a, b); }
constexpr Pat operator<=(Pat a, Pat b) { return op(Op::Le, a, b); }
constexpr Pat operator-(Pat a) { return op(Op::Neg, a); }
constexpr Pat operator!(Pat a) { return op(Op::Not, a); }
constexpr Pat eq(Pat a, Pat b) { return op(Op::Eq, a, b); }
constexpr Pat ne(Pat a, Pat b) { return op(Op::Ne, a, b); }
constexpr Pat max(Pat a, Pat b) { return op(Op::Max, a, b); }
constexpr Pat min(Pat a, Pat b) { return op(Op::Min, a, b); }
constexpr Pat where(Pat c, Pat a, Pat b) { return op(Op::Where, c, a, b); }
constexpr Pat cast(Pat a) { return op(Op::Cast, a); }

/// Pattern, replacement, dtypes, optional guard. The place of the call is kept for listings.
constexpr Rule rule(std::string_view name, Pat lhs, Pat rhs, Domain domain, Guard guard = nullptr,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {name, lhs, rhs, domain, guard, nullptr, file, line};
}
/// Pattern, dtypes and a function that returns the replacement.
constexpr Rule native(std::string_view name, Pat lhs, Domain domain, Native function,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {name, lhs, Pat(), domain, nullptr, function, file, line};
}

}  // namespace svod
