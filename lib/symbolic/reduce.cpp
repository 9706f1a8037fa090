// Reductions over loop ranges: ranges the value does not use, sums that have a closed form, and sums that pick one
// element. They turn aranges, one-hot encodings, triangular masks and embedding lookups into index arithmetic.
#include <algorithm>

#include "symbolic/closed_sum.h"
#include "symbolic/groups.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

Op reduceOp(UOp n) { return n.argAs<ReduceArg>().op; }

UOp reduceAgain(Graph& g, UOp node, UOp value, std::span<const UOp> ranges) {
  return ranges.empty() ? value : g.reduceRanges(reduceOp(node), value, ranges);
}

std::vector<UOp> without(std::span<const UOp> ranges, UOp range) {
  std::vector<UOp> rest(ranges.begin(), ranges.end());
  std::erase(rest, range);
  return rest;
}

// A range that cannot run leaves the identity.
UOp emptyRange(const Match& m) {
  auto isEmpty = [](UOp r) { return r.src(0).bounds().max <= 0; };
  const bool nothing = std::ranges::any_of(m.node.src().subspan(1), isEmpty);
  return nothing ? m.graph.constant(identity(reduceOp(m.node), m.node.dtype())) : UOp();
}

UOp dropUnused(const Match& m, bool anyFloatSum) {
  UOp value = m.node.src(0);
  for (UOp r : m.node.src().subspan(1)) {
    if (value.dependsOn(r) || r.src(0).bounds().min < 1) continue;
    UOp once = reduceAgain(m.graph, m.node, value, without(m.node.src().subspan(1), r));
    if (UOp times = repeated(m.graph, reduceOp(m.node), once, r.src(0), anyFloatSum)) return times;
  }
  return {};
}
UOp unusedRange(const Match& m) {
  return isFloat(m.node.dtype()) && reduceOp(m.node) == Op::Add ? UOp() : dropUnused(m, false);
}
UOp unusedRangeContract(const Match& m) { return dropUnused(m, false); }
UOp unusedRangeFast(const Match& m) { return dropUnused(m, true); }

UOp closedSum(const Match& m) {
  UOp value = m.node.src(0);
  if (reduceOp(m.node) != Op::Add || !(isInt(value.dtype()) || isFloat(value.dtype()))) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (UOp r : ranges) {
    if (!value.dependsOn(r) || r.src(0).bounds().min < 1) continue;
    if (UOp sum = Collapse(m.graph, r).sum(value)) return reduceAgain(m.graph, m.node, sum, without(ranges, r));
  }
  return {};
}

// `value` with the range replaced; loads that used it happen only where `valid` holds.
UOp pickElement(Graph& g, UOp value, UOp range, UOp by, UOp valid) {
  return transform(g, value, [&](UOp n, std::span<const UOp> src) {
    if (n == range) return by;
    bool changed = !std::ranges::equal(src, n.src());
    if (!changed) return n;
    if (n.op() != Op::Load || !n.src(0).dependsOn(range)) return g.withSrc(n, src);
    if (src.size() == 1) return g.load(src[0], g.constant(Scalar::of(n.dtype(), 0)), valid);
    return g.load(src[0], src[1], g.alu(Op::And, {src[2], valid}));
  });
}

// A condition without which `body` is `neutral`, or null.
UOp selectorOf(UOp body, const Scalar& neutral) {
  auto isNeutral = [&](UOp n) { return n.isConst() && n.constant() == neutral; };
  if (body.op() == Op::Where && isNeutral(body.src(2))) return body.src(0);
  if (body.op() == Op::Load && body.srcCount() == 3 && isNeutral(body.src(1))) return body.src(2);
  Scalar zero = Scalar::of(body.dtype(), 0);
  if (neutral != zero) return {};
  if (body.op() == Op::Cast && body.src(0).dtype() != DType::Bool)
    return selectorOf(body.src(0), Scalar::of(body.src(0).dtype(), 0));
  if (body.op() != Op::Mul || isFloat(body.dtype())) return {};
  UOp first = selectorOf(body.src(0), zero);
  return first ? first : selectorOf(body.src(1), zero);
}

// reduce(where(r == e, f(r), identity), r) = where(0 <= e < n, f(e), identity)
UOp pickedElement(const Match& m) {
  UOp body = m.node.src(0);
  Op op = reduceOp(m.node);
  Scalar neutral = identity(op, body.dtype());
  UOp condition = selectorOf(body, neutral);
  if (!condition) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (UOp r : ranges) {
    if (!condition.dependsOn(r)) continue;
    Collapse::Only one = Collapse(m.graph, r).only(condition);
    if (!one.value) continue;
    UOp picked = pickElement(m.graph, body, r, one.value, one.valid), rest = m.graph.constant(neutral);
    // The reduction starts at +0, so that it never yields -0.
    if (isFloat(body.dtype()) && op == Op::Add) picked = m.graph.alu(Op::Add, {picked, rest});
    return reduceAgain(m.graph, m.node, m.graph.where(one.valid, picked, rest), without(ranges, r));
  }
  return {};
}

// Integer factors that use none of the ranges leave a sum.
UOp commonFactor(const Match& m) {
  UOp body = m.node.src(0);
  if (reduceOp(m.node) != Op::Add || body.op() != Op::Mul) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (size_t i : {1, 0}) {
    UOp factor = body.src(i);
    if (std::ranges::any_of(ranges, [&](UOp r) { return factor.dependsOn(r); })) continue;
    return m.graph.alu(Op::Mul, {reduceAgain(m.graph, m.node, body.src(1 - i), ranges), factor});
  }
  return {};
}

constexpr Rule kReduceRows[] = {
    native("reduce-empty-range", op(Op::Reduce), kAllDomains, emptyRange),
    native("reduce-unused-range", op(Op::Reduce), kAllDomains, unusedRange),
    native("reduce-picks-element", op(Op::Reduce), kAllDomains, pickedElement),
    native("reduce-closed-sum", op(Op::Reduce), kInts | kFloats, closedSum),
    native("reduce-common-factor", op(Op::Reduce), kInts, commonFactor),
};
constexpr Rule kContract[] = {native("reduce-unused-range-contract", op(Op::Reduce), kFloats, unusedRangeContract)};
constexpr Rule kFast[] = {
    native("reduce-unused-range-fast", op(Op::Reduce), kFloats, unusedRangeFast),
    native("reduce-common-factor-fast", op(Op::Reduce), kFloats, commonFactor),
};

}  // namespace

constinit const RuleGroup kReduceRules{"reduce", kReduceRows};
constinit const RuleGroup kReduceContractRules{"reduce-contract", kContract};
constinit const RuleGroup kReduceFastRules{"reduce-fast", kFast};

}  // namespace svod
