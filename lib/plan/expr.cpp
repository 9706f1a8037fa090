#include "plan/expr.h"

#include <algorithm>

namespace svod {

namespace {

/// a // b and a % b rounded down; nothing for b = 0 and for the one quotient that overflows.
std::optional<int64_t> floorDivide(int64_t a, int64_t b, bool remainder) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t quotient = a / b, rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1, rest += b;
  return remainder ? rest : quotient;
}

std::optional<int64_t> apply(ExprOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case ExprOp::Add: return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case ExprOp::Sub: return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case ExprOp::Mul: return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case ExprOp::FloorDiv: return floorDivide(a, b, false);
    case ExprOp::Mod: return floorDivide(a, b, true);
    case ExprOp::Max: return std::max(a, b);
    case ExprOp::Min: return std::min(a, b);
    case ExprOp::CeilDiv: {
      std::optional<int64_t> quotient = floorDivide(a, b, false);
      if (!quotient || *quotient * b == a) return quotient;
      return *quotient + 1;  // cannot overflow: the division was not exact, so |b| > 1
    }
    case ExprOp::Const:
    case ExprOp::Var: break;
  }
  return std::nullopt;
}

}  // namespace

Expr Expr::make(ExprOp op, Expr a, const Expr& b) {
  const std::optional<int64_t> ca = a.constant(), cb = b.constant();
  if (ca && cb)
    if (std::optional<int64_t> folded = apply(op, *ca, *cb)) return Expr(*folded);
  if (cb == 0 && (op == ExprOp::Add || op == ExprOp::Sub)) return a;
  if (ca == 0 && op == ExprOp::Add) return b;
  if (cb == 1 && (op == ExprOp::Mul || op == ExprOp::FloorDiv || op == ExprOp::CeilDiv)) return a;
  if (ca == 1 && op == ExprOp::Mul) return b;
  a.nodes_.insert(a.nodes_.end(), b.nodes_.begin(), b.nodes_.end());
  a.nodes_.push_back({op, 0});
  return a;
}

std::optional<int64_t> Expr::constant() const {
  if (nodes_.size() == 1 && nodes_[0].op == ExprOp::Const) return nodes_[0].value;
  return std::nullopt;
}

std::optional<uint32_t> Expr::singleVar() const {
  if (nodes_.size() == 1 && nodes_[0].op == ExprOp::Var) return static_cast<uint32_t>(nodes_[0].value);
  return std::nullopt;
}

uint32_t Expr::varCount() const {
  uint32_t count = 0;
  for (const ExprNode& node : nodes_)
    if (node.op == ExprOp::Var) count = std::max(count, static_cast<uint32_t>(node.value) + 1);
  return count;
}

std::optional<int64_t> Expr::tryEvaluate(std::span<const int64_t> values) const noexcept {
  int64_t stack[kMaxStack];
  size_t depth = 0;
  for (const ExprNode& node : nodes_) {
    if (node.op == ExprOp::Const || node.op == ExprOp::Var) {
      if (depth == std::size(stack)) return std::nullopt;
      const bool isVar = node.op == ExprOp::Var;
      if (isVar && static_cast<uint64_t>(node.value) >= values.size()) return std::nullopt;
      stack[depth++] = isVar ? values[static_cast<size_t>(node.value)] : node.value;
      continue;
    }
    if (depth < 2) return std::nullopt;
    std::optional<int64_t> result = apply(node.op, stack[depth - 2], stack[depth - 1]);
    if (!result) return std::nullopt;
    stack[--depth - 1] = *result;
  }
  return depth == 1 ? std::optional(stack[0]) : std::nullopt;
}

namespace {

using Line = Expr::Line;

/// f(a, b) for lines a and b, where that is a line for every value of the variable.
std::optional<Line> applyToLines(ExprOp op, Line a, Line b) {
  if (a.times == 0 && b.times == 0) {
    const std::optional<int64_t> constant = apply(op, a.constant, b.constant);
    return constant ? std::optional(Line{0, *constant}) : std::nullopt;
  }
  if (op == ExprOp::Mul && b.times != 0) std::swap(a, b);
  if (op == ExprOp::Mul && b.times != 0) return std::nullopt;
  if (op != ExprOp::Add && op != ExprOp::Sub && op != ExprOp::Mul) return std::nullopt;
  const std::optional<int64_t> times = apply(op, a.times, op == ExprOp::Mul ? b.constant : b.times);
  const std::optional<int64_t> constant = apply(op, a.constant, b.constant);
  return times && constant ? std::optional(Line{*times, *constant}) : std::nullopt;
}

}  // namespace

std::optional<Expr::Line> Expr::lineIn(uint32_t variable, std::span<const int64_t> values) const noexcept {
  Line stack[kMaxStack];
  size_t depth = 0;
  for (const ExprNode& node : nodes_) {
    if (node.op == ExprOp::Const || node.op == ExprOp::Var) {
      if (depth == std::size(stack)) return std::nullopt;
      const bool isVar = node.op == ExprOp::Var;
      if (isVar && static_cast<uint64_t>(node.value) >= values.size()) return std::nullopt;
      const bool isUnknown = isVar && node.value == variable;
      stack[depth++] = isUnknown ? Line{1, 0} : Line{0, isVar ? values[static_cast<size_t>(node.value)] : node.value};
      continue;
    }
    if (depth < 2) return std::nullopt;
    const std::optional<Line> result = applyToLines(node.op, stack[depth - 2], stack[depth - 1]);
    if (!result) return std::nullopt;
    stack[--depth - 1] = *result;
  }
  return depth == 1 ? std::optional(stack[0]) : std::nullopt;
}

Result<int64_t> Expr::evaluate(std::span<const int64_t> values, std::span<const std::string> names) const {
  if (std::optional<int64_t> value = tryEvaluate(values)) return *value;
  std::string message = "'" + toText(*this, names) + "' overflows or divides by zero with";
  for (uint32_t i = 0; i < std::min(values.size(), names.size()); i++)
    message += " " + names[i] + "=" + std::to_string(values[i]);
  return fail(Diag::VariableBounds, message, "choose other values for the variables");
}

}  // namespace svod
