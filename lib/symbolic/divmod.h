// Floor division and modulo of linear forms.
#pragma once
#include "symbolic/facts.h"

namespace svod {

/// Index arithmetic with what is known at one place. Results are linear forms whose new terms (quotients and
/// remainders that do not simplify) are nodes of `graph`. Every identity used is exact over the integers.
struct IndexMath {
  Graph& graph;
  const Facts* facts = nullptr;

  Interval bounds(UOp n) const { return facts ? facts->of(n) : n.bounds(); }
  Interval bounds(const Linear& form) const { return facts ? facts->of(form) : boundsOf(form); }
  /// linearOf with terms that have one known value folded into the constant.
  Linear linear(UOp n) const;

  /// True when `form` < 0 is certain, also for ranges with symbolic ends.
  bool alwaysNegative(const Linear& form) const;

  /// floor(n / c) and n - c * floor(n / c) for c > 0.
  Linear floorDiv(const Linear& n, int64_t c) const;
  Linear floorMod(const Linear& n, int64_t c) const;
  /// The same with any divisor; null when nothing is known.
  std::optional<Linear> floorDiv(const Linear& n, UOp divisor) const;
  std::optional<Linear> floorMod(const Linear& n, UOp divisor) const;
  /// Joins (b % d) * m + (b // d) * (d * m) to b * m wherever it occurs.
  void recombine(Linear& form) const;

 private:
  std::optional<int64_t> onlyQuotient(const Linear& n, int64_t c) const;
  std::optional<Linear> congruent(const Linear& n, int64_t c) const;
  /// n = divisor * quotient + remainder with 0 <= remainder < divisor, which divides c.
  struct FirstStep {
    int64_t divisor;
    Linear quotient, remainder;
  };
  std::optional<FirstStep> firstStep(const Linear& n, int64_t c) const;
};

namespace detail {

/// `n` is `op` of an index by a positive constant.
inline bool isConstDivisor(UOp n, Op op) {
  return n.op() == op && n.dtype() == DType::Index && n.src(1).isConst() && n.src(1).constInt() > 0;
}

inline Linear single(UOp base) {
  Linear form;
  form.add(base, 1);
  return form;
}

/// A sum in two parts.
struct SplitSum {
  Linear multiples, rest;
};

}  // namespace detail

}  // namespace svod
