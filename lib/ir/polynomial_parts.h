// What the files of polynomials share.
#pragma once
#include "ir/polynomial.h"

namespace svod::detail {

inline int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Sorts the terms, and adds up those of equal atoms.
void normalize(Polynomial& p);
/// Whether products of two factors of such polynomials do not wrap.
bool isModest(const Polynomial& p);

}  // namespace svod::detail
