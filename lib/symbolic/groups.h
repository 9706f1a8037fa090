// The rule groups of this room. Each lives in the file named after it.
#pragma once
#include "rewrite/dsl.h"
#include "symbolic/facts.h"

namespace svod {

extern const RuleGroup kNeutralRules, kConstantRules, kConstantContractRules, kBoolRules, kBitRules, kCastRules,
    kWhereRules, kSumRules, kCompareRules, kIndexRules, kBoundsRules, kFastRules, kReduceRules, kReduceContractRules,
    kReduceFastRules, kAccessRules, kOpenGateRules;

inline const Facts* factsOf(const Match& m) {
  return m.context ? static_cast<const SymbolicContext*>(m.context)->facts : nullptr;
}
inline Interval boundsOf(const Match& m, UOp n) {
  const Facts* facts = factsOf(m);
  return facts ? facts->of(n) : n.bounds();
}

/// 1, 3, 7, ..: all bits below some bit.
inline bool isLowMask(int64_t v) { return v > 0 && (v & static_cast<int64_t>(static_cast<uint64_t>(v) + 1)) == 0; }

}  // namespace svod
