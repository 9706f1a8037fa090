#include "embed/range.h"

#include <algorithm>

#include "embed/fold_expr.h"

namespace svod {

namespace {

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0); }

/// From the least to the greatest of four results, all of which must exist.
std::optional<ExprRange> hull(std::initializer_list<std::optional<int64_t>> corners) {
  ExprRange range{INT64_MAX, INT64_MIN};
  for (const std::optional<int64_t>& corner : corners) {
    if (!corner) return std::nullopt;
    range = {std::min(range.min, *corner), std::max(range.max, *corner)};
  }
  return range;
}

std::optional<int64_t> times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<ExprRange> sum(const ExprRange& a, const ExprRange& b) {
  ExprRange range;
  if (__builtin_add_overflow(a.min, b.min, &range.min) || __builtin_add_overflow(a.max, b.max, &range.max))
    return std::nullopt;
  return range;
}

std::optional<ExprRange> difference(const ExprRange& a, const ExprRange& b) {
  ExprRange range;
  if (__builtin_sub_overflow(a.min, b.max, &range.min) || __builtin_sub_overflow(a.max, b.min, &range.max))
    return std::nullopt;
  return range;
}

/// Quotients are monotonic in both operands where the divisor keeps its sign.
std::optional<ExprRange> quotient(const ExprRange& a, const ExprRange& b, int64_t (*divide)(int64_t, int64_t)) {
  if ((b.min <= 0 && b.max >= 0) || (a.min == INT64_MIN && b.max < 0)) return std::nullopt;
  return hull({divide(a.min, b.min), divide(a.min, b.max), divide(a.max, b.min), divide(a.max, b.max)});
}

/// What is left has the sign of the divisor.
std::optional<ExprRange> remainder(const ExprRange& a, const ExprRange& b) {
  if (b.min <= 0 && b.max >= 0) return std::nullopt;
  if (b.max < 0) return a.min == INT64_MIN ? std::nullopt : std::optional(ExprRange{b.min + 1, 0});
  return a.min >= 0 ? ExprRange{0, std::min(a.max, b.max - 1)} : ExprRange{0, b.max - 1};
}

std::optional<ExprRange> apply(ExprOp op, const ExprRange& a, const ExprRange& b) {
  switch (op) {
    case ExprOp::Add: return sum(a, b);
    case ExprOp::Sub: return difference(a, b);
    case ExprOp::Mul: return hull({times(a.min, b.min), times(a.min, b.max), times(a.max, b.min), times(a.max, b.max)});
    case ExprOp::FloorDiv: return quotient(a, b, floorDiv);
    case ExprOp::CeilDiv: return quotient(a, b, ceilDiv);
    case ExprOp::Mod: return remainder(a, b);
    case ExprOp::Max: return ExprRange{std::max(a.min, b.min), std::max(a.max, b.max)};
    case ExprOp::Min: return ExprRange{std::min(a.min, b.min), std::min(a.max, b.max)};
    case ExprOp::Const:
    case ExprOp::Var: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ExprRange> rangeOf(const Expr& expr, std::span<const ExprRange> variables) {
  using Range = std::optional<ExprRange>;
  const auto leaf = [&](const ExprNode& node) -> Range {
    if (node.op == ExprOp::Const) return ExprRange{node.value, node.value};
    if (static_cast<size_t>(node.value) >= variables.size()) return std::nullopt;
    return variables[static_cast<size_t>(node.value)];
  };
  const auto combine = [](ExprOp op, const Range& a, const Range& b) {
    return a && b ? apply(op, *a, *b) : std::nullopt;
  };
  return foldExpr<Range>(expr, leaf, combine);
}

}  // namespace svod
