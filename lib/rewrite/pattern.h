// Patterns of rewrite rules as plain constexpr data: an expression in preorder, built with ordinary operators.
// Include this header only in files that define rules; it puts the short names x, y, z, w, c0, c1, c2 into svod.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "ir/op.h"

namespace svod {

/// A capture stands for any value; used twice it matches the same node twice.
struct Capture {
  uint8_t slot;
};
/// A capture of a Const node.
struct ConstCapture {
  uint8_t slot;
};

inline constexpr int kMaxCaptures = 7;
inline constexpr Capture x{0}, y{1}, z{2}, w{3};
inline constexpr ConstCapture c0{4}, c1{5}, c2{6};

enum class PatKind : uint8_t {
  Value,     // capture `slot`
  Constant,  // Const node captured in `slot`
  Literal,   // constant equal to `imm`; 0 is +0 for floats, 1 is true for bool
  Apply,     // node `op` with `srcs` sources (kAnySrcs: not looked at)
  Trait,     // node whose op has the traits `imm`; sources are not looked at
  Fold,      // right-hand sides: the constant that the child evaluates to
};

inline constexpr uint8_t kAnySrcs = 255;
inline constexpr int kMaxPatNodes = 16;

struct PatNode {
  PatKind kind = PatKind::Literal;
  Op op = Op::Const;
  uint8_t slot = 0;
  uint8_t srcs = 0;
  uint8_t size = 1;       // nodes of this subtree
  bool commuted = false;  // the two sources may also stand the other way round
  int32_t imm = 0;
};

struct Pat {
  PatNode nodes[kMaxPatNodes] = {};
  uint8_t count = 0;

  constexpr Pat() = default;
  constexpr Pat(int literal) : count(1) { nodes[0].imm = literal; }
  constexpr Pat(Capture c) : count(1) { nodes[0].kind = PatKind::Value, nodes[0].slot = c.slot; }
  constexpr Pat(ConstCapture c) : count(1) { nodes[0].kind = PatKind::Constant, nodes[0].slot = c.slot; }
  constexpr Pat(PatKind kind, Op op, std::initializer_list<Pat> srcs) : count(1) {
    for (const Pat& p : srcs)
      for (int i = 0; i < p.count; ++i) nodes[count++] = p.nodes[i];
    nodes[0].kind = kind;
    nodes[0].op = op;
    nodes[0].srcs = static_cast<uint8_t>(srcs.size());
    nodes[0].size = count;
  }
};

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

}  // namespace svod
