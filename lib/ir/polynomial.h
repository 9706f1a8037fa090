// Dims as sums of products of atoms with integer factors: the ring behind the normal form of sizes.
//
// An atom is a node that is no sum, product or remainder: a variable, a counter, a quotient, a minimum or maximum.
// Remainders are read as a - b * (a // b), so that equal dims with and without them are equal polynomials; toDim()
// writes them again where that is shorter. Factors wrap as sizes do, so that a polynomial is its dim modulo 2^64;
// where its bounds fit in 64 bits it is its dim exactly.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace svod {

struct DimTerm {
  std::vector<UOp> atoms;  // sorted by structure; empty for the constant
  int64_t factor = 0;      // not 0
  bool operator==(const DimTerm&) const = default;
};

/// Terms with distinct atoms, sorted by structure, the constant last.
using Polynomial = std::vector<DimTerm>;

/// Products with more terms stay as they are written; and sums.
constexpr size_t kMaxDimTerms = 64, kMaxSumTerms = 256;

/// An interval of integers of more than 64 bits; ends saturate.
struct WideInterval {
  __int128 min = 0, max = 0;
  bool fits() const { return min >= INT64_MIN && max <= INT64_MAX; }
  bool contains(int64_t value) const { return min <= value && value <= max; }
};

Polynomial numberPolynomial(int64_t value);
Polynomial atomPolynomial(UOp atom);
/// a + factor * b
Polynomial sum(Polynomial a, const Polynomial& b, int64_t factor = 1);
Polynomial product(const Polynomial& a, const Polynomial& b);
/// Whether the product is short enough to be multiplied out: one by a single term is as long as a sum may be.
inline bool hasShortProduct(const Polynomial& a, const Polynomial& b) {
  return a.size() * b.size() <= (a.size() <= 1 || b.size() <= 1 ? kMaxSumTerms : kMaxDimTerms);
}
/// a without its constant, and that.
int64_t constantOf(const Polynomial& p);
Polynomial withConstant(Polynomial p, int64_t value);
inline bool isNumber(const Polynomial& p) { return p.empty() || (p.size() == 1 && p[0].atoms.empty()); }
/// Greatest common divisor of the factors of terms with atoms; 0 without any.
int64_t contentOf(const Polynomial& p);
/// p * numerator / denominator, which divides every factor.
Polynomial scaled(Polynomial p, int64_t numerator, int64_t denominator);

/// a / b when that is a polynomial with integer factors and no factor wraps; b is not 0.
std::optional<Polynomial> exactQuotient(const Polynomial& a, const Polynomial& b);
/// t / d for terms, when d divides it.
std::optional<DimTerm> exactQuotient(const DimTerm& t, const DimTerm& d);

/// Bounds from those of the atoms as if these were independent; exact then where a corner decides.
WideInterval boundsOf(const Polynomial& p);
/// At least as tight: of two quotients by one number, the difference lies where that of their numerators does, and
/// numerators that stand for quotients may cancel, and so may operands of Min and Max.
WideInterval boundsOfDifference(Graph& g, Polynomial p);

/// Reads a dim. Sums and products must nest to the left, as toDim() writes them: anything else is an atom, so this
/// takes time linear in the size.
Polynomial toPolynomial(Graph& g, UOp dim);
UOp toDim(Graph& g, const Polynomial& p);

}  // namespace svod
