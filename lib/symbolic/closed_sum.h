// Reductions over one loop range without the loop.
#pragma once
#include <optional>
#include <vector>

#include "symbolic/divmod.h"

namespace svod {

/// `value` combined with itself `extent` times, or null. Sums of floats become products where that is exact, or with
/// `anyFloatSum`.
UOp repeated(Graph& graph, Op op, UOp value, UOp extent, bool anyFloatSum);

/// coef * range + rest, compared with 0.
struct RangeClause {
  Op op;  // Lt, Eq or Ne
  int64_t coef;
  Linear rest;
};

/// Sums over one range [0, extent) in closed form.
class Collapse {
 public:
  Collapse(Graph& graph, UOp range) : g_(graph), math_{graph}, range_(range), extent_(range.src(0)) {}
  /// The sum of `body` over the range, or null. Integers wrap alike on both sides.
  UOp sum(UOp body, int depth = 0);
  /// How many values of the range satisfy `condition`, an Index, or null.
  UOp count(UOp condition, int depth = 0);
  /// The only value of the range that `condition` allows, and what else must hold for it. Null value: not of that kind.
  struct Only {
    UOp value, valid;
  };
  Only only(UOp condition);

 private:
  UOp toIndex(UOp n);
  std::optional<RangeClause> parse(UOp clause);
  UOp countOfAll(const std::vector<UOp>& clauses);
  /// value times the number of hits of `condition`, where value does not use the range.
  UOp counted(UOp condition, UOp value);
  /// Every multiple up to the extent is representable, so that the order of additions does not matter.
  bool sumsExactly(UOp value) const;
  UOp sumOfWhere(UOp body, int depth);
  /// sum(c * r + rest) = c * n * (n - 1) / 2 + rest * n
  UOp sumOfLinear(UOp body);

  Graph& g_;
  IndexMath math_;
  UOp range_, extent_;
};

}  // namespace svod
