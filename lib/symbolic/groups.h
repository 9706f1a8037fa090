// The rule groups of this room. Each lives in the file named after it.
#pragma once
#include "rewrite/dsl.h"
#include "symbolic/facts.h"

namespace svod {

extern const RuleGroup kNeutralRules, kConstantRules, kBoolRules, kBitRules, kCastRules, kWhereRules, kSumRules,
    kCompareRules, kIndexRules, kBoundsRules, kFastRules, kReduceRules, kReduceContractRules, kReduceFastRules,
    kAccessRules;

inline const Facts* factsOf(const Match& m) {
  return m.context ? static_cast<const SymbolicContext*>(m.context)->facts : nullptr;
}
inline Interval boundsOf(const Match& m, UOp n) {
  const Facts* facts = factsOf(m);
  return facts ? facts->of(n) : n.bounds();
}

}  // namespace svod
