// Between which numbers an expression of a plan lies, so that code for it needs no checks.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "plan/expr.h"

namespace svod {

/// Both inclusive.
struct ExprRange {
  int64_t min = 0, max = 0;
  bool operator==(const ExprRange&) const = default;
};

/// Contains every value that the expression has for variables in these ranges; nothing where it, or a part of it, might
/// overflow or divide by 0.
std::optional<ExprRange> rangeOf(const Expr& expr, std::span<const ExprRange> variables);

}  // namespace svod
