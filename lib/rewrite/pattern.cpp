// Right-hand sides: building nodes and folding constants from pattern data.
#include <array>

#include "rewrite/rule.h"

namespace svod {

DType operandDType(UOp node) {
  if (node.srcCount() == 0) return node.dtype();
  return node.src(node.op() == Op::Where && node.srcCount() == 3 ? 1 : 0).dtype();
}

namespace {

class Builder {
 public:
  Builder(const Pat& pat, const Match& match) : pat_(pat), match_(match) {}

  // `expected` is the dtype the context wants; literals and casts take it.
  UOp build(int at, DType expected) const {
    const PatNode& n = pat_.nodes[at];
    switch (n.kind) {
      case PatKind::Value:
      case PatKind::Constant: return match_.captured[n.slot];
      case PatKind::Literal: return match_.graph.constant(Scalar::of(expected, n.imm));
      case PatKind::Fold: return buildFold(at + 1, expected);
      case PatKind::Apply: return buildApply(at, expected);
      case PatKind::Trait: break;
    }
    return {};
  }

 private:
  // The dtype a subtree has by itself, Void when only the context tells.
  DType ownDType(int at) const {
    const PatNode& n = pat_.nodes[at];
    if (n.kind == PatKind::Value || n.kind == PatKind::Constant) return match_.captured[n.slot].dtype();
    if (n.kind == PatKind::Fold) return ownDType(at + 1);
    if (n.kind != PatKind::Apply || n.op == Op::Cast || n.op == Op::Bitcast) return DType::Void;
    if (has(n.op, Comparison)) return DType::Bool;
    int child = at + 1;
    for (int i = 0; i < n.srcs; child += pat_.nodes[child].size, ++i) {
      if (n.op == Op::Where && i == 0) continue;
      if (DType d = ownDType(child); d != DType::Void) return d;
    }
    return DType::Void;
  }

  // The dtype the sources of an op share.
  DType operandDTypeOf(int at, DType expected) const {
    const PatNode& n = pat_.nodes[at];
    if (!has(n.op, Comparison)) return expected;
    DType first = ownDType(at + 1);
    return first != DType::Void ? first : ownDType(at + 1 + pat_.nodes[at + 1].size);
  }

  UOp buildApply(int at, DType expected) const {
    const PatNode& n = pat_.nodes[at];
    if (DType own = ownDType(at); own != DType::Void) expected = own;
    DType operand = operandDTypeOf(at, expected);
    std::array<UOp, kMaxPatNodes> src;
    int child = at + 1;
    for (int i = 0; i < n.srcs; child += pat_.nodes[child].size, ++i) {
      src[i] = build(child, n.op == Op::Where && i == 0 ? DType::Bool : operand);
      if (!src[i]) return {};
    }
    std::span<const UOp> sources(src.data(), n.srcs);
    if (n.op == Op::Cast || n.op == Op::Bitcast)
      return src[0].dtype() == expected ? src[0] : match_.graph.make(n.op, expected, sources);
    return match_.graph.alu(n.op, sources);
  }

  UOp buildFold(int at, DType expected) const {
    if (DType own = ownDType(at); own != DType::Void) expected = own;
    std::optional<Scalar> value = evaluate(at, expected);
    return value ? match_.graph.constant(*value) : UOp();
  }

  std::optional<Scalar> evaluate(int at, DType expected) const {
    const PatNode& n = pat_.nodes[at];
    if (n.kind == PatKind::Constant) return match_.captured[n.slot].constant();
    if (n.kind == PatKind::Literal) return Scalar::of(expected, n.imm);
    if (n.kind != PatKind::Apply) return std::nullopt;
    DType operand = operandDTypeOf(at, expected);
    std::array<Scalar, 3> in;
    int child = at + 1;
    for (int i = 0; i < n.srcs; child += pat_.nodes[child].size, ++i) {
      std::optional<Scalar> value = evaluate(child, n.op == Op::Where && i == 0 ? DType::Bool : operand);
      if (!value) return std::nullopt;
      in[i] = *value;
    }
    return foldScalar(n.op, has(n.op, Comparison) ? DType::Bool : expected, {in.data(), n.srcs});
  }

  const Pat& pat_;
  const Match& match_;
};

}  // namespace

std::optional<Scalar> foldScalar(Op op, DType result, std::span<const Scalar> in) {
  if (result != DType::Index || in.empty() || in[0].dtype() != DType::Index) return evalScalar(op, result, in);
  int64_t value = 0, a = in[0].asInt(), b = in.size() > 1 ? in[1].asInt() : 0;
  switch (op) {
    case Op::Add:
      return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(Scalar::ofInt(result, value));
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(Scalar::ofInt(result, value));
    case Op::Mul:
      return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(Scalar::ofInt(result, value));
    case Op::Neg:
    case Op::Abs:
      if (a == INT64_MIN) return std::nullopt;
      break;
    case Op::Cdiv:
    case Op::Floordiv:
      if (a == INT64_MIN && b == -1) return std::nullopt;
      break;
    case Op::Shl: {
      bool fits = b >= 0 && b < 63 && !__builtin_mul_overflow(a, int64_t{1} << b, &value);
      return fits ? std::optional(Scalar::ofInt(result, value)) : std::nullopt;
    }
    case Op::Mulacc: {
      bool wraps = __builtin_mul_overflow(a, b, &value) || __builtin_add_overflow(value, in[2].asInt(), &value);
      return wraps ? std::nullopt : std::optional(Scalar::ofInt(result, value));
    }
    default: break;
  }
  return evalScalar(op, result, in);
}

UOp instantiate(const Pat& rhs, const Match& match) { return Builder(rhs, match).build(0, match.node.dtype()); }

}  // namespace svod
