// What the rules about nodes share.
#pragma once
#include <string>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace svod::detail {

inline constexpr uint8_t T = 1, K = 2, L = 4, P = 8, kEvery = T | K | L | P;

inline std::string dtypeOf(UOp u) { return std::string(toText(u.dtype())); }
inline std::string textOf(Op op) { return std::string(toText(op)); }

inline std::string checkEqualShapes(std::span<const UOp> values) {
  UOp shaped;
  for (UOp v : values) {
    if (v.isScalar()) continue;
    if (!shaped) shaped = v;
    if (!sameShape(v.shape(), shaped.shape())) return toTypeText(shaped) + " and " + toTypeText(v) + " differ in shape";
  }
  return {};
}

template <Op kOp>
inline bool isOp(Op op) {
  return op == kOp;
}
inline bool everyOp(Op) { return true; }

}  // namespace svod::detail
