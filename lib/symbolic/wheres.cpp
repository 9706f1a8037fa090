// Selection between values.
#include "symbolic/groups.h"

namespace svod {

namespace {

// op(where(c, k, l), m) with constants folds inside; one selection remains.
UOp opOfConstantWhere(const Match& m) {
  UOp node = m.node, condition;
  if (node.op() == Op::Where || node.srcCount() > 2) return {};
  for (UOp s : node.src()) {
    if (s.isConst()) continue;
    if (s.op() != Op::Where || !s.src(1).isConst() || !s.src(2).isConst()) return {};
    if (condition && condition != s.src(0)) return {};
    condition = s.src(0);
  }
  if (!condition) return {};
  UOp result[2];
  for (size_t branch : {0, 1}) {
    Scalar in[2];
    for (size_t i = 0; i < node.srcCount(); ++i)
      in[i] = (node.src(i).isConst() ? node.src(i) : node.src(i).src(1 + branch)).constant();
    std::optional<Scalar> value = foldScalar(node.op(), node.dtype(), {in, node.srcCount()});
    if (!value) return {};
    result[branch] = m.graph.constant(*value);
  }
  return m.graph.where(condition, result[0], result[1]);
}

// where(c, a, b) op where(c, a', b') when one of the two results is constant.
UOp joinWheres(const Match& m) {
  UOp a = m.node.src(0), b = m.node.src(1);
  if (a.op() != Op::Where || b.op() != Op::Where || a.src(0) != b.src(0)) return {};
  bool first = a.src(1).isConst() && b.src(1).isConst(), second = a.src(2).isConst() && b.src(2).isConst();
  if (!first && !second) return {};
  auto combine = [&](size_t i) { return m.graph.make(m.node.op(), m.node.dtype(), {a.src(i), b.src(i)}); };
  return m.graph.where(a.src(0), combine(1), combine(2));
}

// b * x of a converted bool selects x or 0.
UOp multipleOfBool(const Match& m) {
  for (size_t i : {0, 1}) {
    UOp b = m.node.src(i);
    if (b.op() == Op::Cast && b.src(0).dtype() == DType::Bool && !m.node.src(1 - i).isConst())
      return m.graph.where(b.src(0), m.node.src(1 - i), m.graph.constant(Scalar::ofInt(m.node.dtype(), 0)));
  }
  return {};
}

constexpr Rule kWhereRows[] = {
    rule("where-true", where(1, x, y), x, kAllDomains),
    rule("where-false", where(0, x, y), y, kAllDomains),
    rule("where-same", where(x, y, y), y, kAllDomains),
    rule("where-not", where(!x, y, z), where(x, z, y), kAllDomains),
    rule("where-bool", where(x, 1, 0), x, kBools),
    rule("where-bool-not", where(x, 0, 1), !x, kBools),
    rule("where-and", where(x, y, 0), x& y, kBools),
    rule("where-or", where(x, 1, y), x | y, kBools),
    rule("where-not-and", where(x, 0, y), (!x) & y, kBools),
    rule("where-not-or", where(x, y, 1), (!x) | y, kBools),
    rule("where-same-condition-true", where(x, where(x, y, z), w), where(x, y, w), kAllDomains),
    rule("where-same-condition-false", where(x, y, where(x, z, w)), where(x, y, w), kAllDomains),
    rule("where-nested-and", where(x, where(y, z, w), w), where(x& y, z, w), kAllDomains),
    rule("where-nested-or", where(x, z, where(y, z, w)), where(x | y, z, w), kAllDomains),
    rule("where-lt-max", where(x < y, y, x), max(x, y), kInts),
    rule("where-lt-min", where(x < y, x, y), min(x, y), kInts),
    rule("where-le-max", where(x <= y, y, x), max(x, y), kInts),
    rule("where-le-min", where(x <= y, x, y), min(x, y), kInts),
    rule("add-disjoint-wheres", where(x, y, 0) + where(x, 0, z), where(x, y, z), kIntegral),
    native("mul-cast-of-bool", op(Op::Mul), kInts, multipleOfBool),
    native("op-of-constant-where", trait(Elementwise), kAllDomains, opOfConstantWhere),
    native("join-wheres", trait(Elementwise | Commutative), kAllDomains, joinWheres),
    native("join-wheres-sub", op(Op::Sub), kAllDomains, joinWheres),
    native("join-wheres-fdiv", op(Op::Fdiv), kFloats, joinWheres),
};

}  // namespace

constinit const RuleGroup kWhereRules{"wheres", kWhereRows};

}  // namespace svod
