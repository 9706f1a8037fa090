// What intervals decide.
#include "symbolic/groups.h"

namespace svod {

namespace {

bool hasBounds(UOp n) { return n.dtype() == DType::Bool || (isInt(n.dtype()) && n.dtype() != DType::U64); }

UOp singleValue(const Match& m) {
  if (m.node.isConst() || !hasBounds(m.node)) return {};
  Interval b = boundsOf(m, m.node);
  return b.isConst() ? m.graph.constant(Scalar::ofInt(m.node.dtype(), b.min)) : UOp();
}

UOp dominatingOperand(const Match& m) {
  if (!hasBounds(m.node)) return {};
  UOp a = m.node.src(0), b = m.node.src(1);
  Interval i = boundsOf(m, a), j = boundsOf(m, b);
  bool isMax = m.node.op() == Op::Max;
  if (isMax ? i.min >= j.max : i.max <= j.min) return a;
  return (isMax ? j.min >= i.max : j.max <= i.min) ? b : UOp();
}

// 0 <= a < b
UOp remainderOfSmall(const Match& m) {
  if (!hasBounds(m.node)) return {};
  Interval a = boundsOf(m, m.node.src(0)), b = boundsOf(m, m.node.src(1));
  return a.min >= 0 && a.max < b.min ? m.node.src(0) : UOp();
}

// Signs known: truncating and flooring division agree.
UOp floorOfNonnegative(const Match& m) {
  if (m.node.dtype() != DType::Index) return {};
  if (boundsOf(m, m.node.src(0)).min < 0 || boundsOf(m, m.node.src(1)).min <= 0) return {};
  return m.graph.alu(m.node.op() == Op::Cdiv ? Op::Floordiv : Op::Floormod, m.node.src());
}

UOp absOfKnownSign(const Match& m) {
  if (!hasBounds(m.node)) return {};
  Interval b = boundsOf(m, m.node.src(0));
  if (b.min >= 0) return m.node.src(0);
  return b.max <= 0 ? m.graph.alu(Op::Neg, {m.node.src(0)}) : UOp();
}

constexpr Rule kBoundsRows[] = {
    native("single-value", trait(Elementwise), kAllDomains, singleValue),
    native("single-value-var", op(Op::Var), kInts, singleValue),
    native("max-dominated", op(Op::Max), kInts, dominatingOperand),
    native("min-dominated", op(Op::Min), kInts, dominatingOperand),
    native("floormod-small", op(Op::Floormod), kInts, remainderOfSmall),
    native("cmod-small", op(Op::Cmod), kInts, remainderOfSmall),
    native("cdiv-nonnegative", op(Op::Cdiv), kIndices, floorOfNonnegative),
    native("cmod-nonnegative", op(Op::Cmod), kIndices, floorOfNonnegative),
    native("abs-known-sign", op(Op::Abs), kInts, absOfKnownSign),
};

}  // namespace

constinit const RuleGroup kBoundsRules{"bounds", kBoundsRows};

}  // namespace svod
