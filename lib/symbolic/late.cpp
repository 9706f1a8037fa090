// Loads whose gate the copies of a loop made constant, once lanes are vectors.
#include "symbolic/late.h"

#include <algorithm>

#include "symbolic/groups.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

UOp loadAlways(const Match& m) {
  return m.node.srcCount() == 3 && m.node.src(2).isConst(1) ? m.graph.load(m.node.src(0)) : UOp();
}

// Lanes that no run loads are what stands for them, where other lanes say how many there are.
UOp operandNeverLoaded(const Match& m) {
  UOp node = m.node;
  if (node.isScalar() || !isElementwise(node.op())) return {};
  std::vector<UOp> src(node.src().begin(), node.src().end());
  for (UOp& s : src)
    if (s.op() == Op::Load && s.srcCount() == 3 && s.src(2).isScalar() && s.src(2).isConst(0) && s.src(1).isScalar())
      s = s.src(1);
  const bool keepsLanes = std::ranges::any_of(src, [](UOp s) { return !s.isScalar(); });
  return keepsLanes && !std::ranges::equal(src, node.src()) ? m.graph.withSrc(node, src) : UOp();
}

constexpr Rule kOpenGateRows[] = {
    native("load-always", op(Op::Load), kAllDomains, loadAlways),
    native("operand-never-loaded", trait(Elementwise), kAllDomains, operandNeverLoaded),
};

}  // namespace

constinit const RuleGroup kOpenGateRules{"open-gates", kOpenGateRows};

namespace {

constinit const RuleSet kLate{"symbolic-late",
                              {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules,
                               &kWhereRules, &kSumRules, &kCompareRules, &kIndexRules, &kOpenGateRules}};
constinit const RuleSet kLateFast{
    "symbolic-late-fast",
    {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules, &kWhereRules, &kSumRules,
     &kCompareRules, &kIndexRules, &kOpenGateRules, &kFastRules}};

}  // namespace

const RuleSet& lateRules(Numerics numerics) { return numerics == Numerics::Fast ? kLateFast : kLate; }

}  // namespace svod
