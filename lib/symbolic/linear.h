// Linear forms of Index expressions: a sum of coefficient * term plus a constant. The normal form of index arithmetic.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "support/integers.h"

namespace svod {

struct Term {
  UOp base;      // not a sum, not a constant multiple
  int64_t coef;  // not 0
  bool operator==(const Term&) const = default;
};

/// sum(coef * base) + constant over the integers. `overflow` marks a form whose numbers left i64: it means nothing and
/// whoever sees it must not use it.
struct Linear {
  std::vector<Term> terms;  // distinct bases, in no particular order
  int64_t constant = 0;
  bool overflow = false;

  void add(UOp base, int64_t coef);
  void add(int64_t value);
  /// this += factor * other
  void add(const Linear& other, int64_t factor);
  int64_t coefOf(UOp base) const;
  bool isConst() const { return terms.empty(); }
  bool operator==(const Linear&) const = default;
};

/// Splits an Index expression through Add, Sub, Neg, Mul and Shl by constants. Terms with a single possible value
/// join the constant.
Linear linearOf(UOp x);
/// The canonical expression: larger coefficients first, ties in structural order, the constant last. Null on overflow.
UOp build(Graph& graph, const Linear& form);

/// The factors of a product, and the product of factors in canonical order (null without factors).
void flattenFactors(UOp n, std::vector<UOp>& factors);
UOp buildProduct(Graph& graph, std::vector<UOp> factors);

/// Interval arithmetic. Ends saturate at those of i64, which is exact because index values never leave it.
Interval addIntervals(Interval a, Interval b);
Interval scaleInterval(Interval a, int64_t factor);
Interval intersect(Interval a, Interval b);
/// Interval of `form` from the bounds of its terms.
Interval boundsOf(const Linear& form);

/// Greatest common divisor of the coefficients' magnitudes; 0 without terms.
int64_t gcdOfTerms(const Linear& form);

}  // namespace svod
