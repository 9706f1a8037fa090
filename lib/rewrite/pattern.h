// Patterns of rewrite rules as plain constexpr data: an expression in preorder. Rules are written with dsl.h.
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

}  // namespace svod
