// Integer expressions of a plan in C. Their ranges are known, so nothing overflows and no divisor is 0.
#include "embed/c_parts.h"
#include "embed/fold_expr.h"

namespace svod {

namespace {

struct ExprFunction {
  ExprOp op;
  std::string_view name, body;
};

constexpr ExprFunction kFunctions[] = {
    {ExprOp::FloorDiv, "svod_floor_div", "a / b - (a % b != 0 && (a < 0) != (b < 0))"},
    {ExprOp::Mod, "svod_floor_mod", "a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0)"},
    {ExprOp::CeilDiv, "svod_ceil_div", "a / b + (a % b != 0 && (a < 0) == (b < 0))"},
    {ExprOp::Max, "svod_max", "a > b ? a : b"},
    {ExprOp::Min, "svod_min", "a < b ? a : b"},
};

std::string operation(ExprOp op, const std::string& a, const std::string& b) {
  for (const ExprFunction& f : kFunctions)
    if (f.op == op) return std::string(f.name) + "(" + a + ", " + b + ")";
  return "(" + a + (op == ExprOp::Add ? " + " : op == ExprOp::Sub ? " - " : " * ") + b + ")";
}

std::string numberText(int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  return value < 0 ? "(-INT64_C(" + std::to_string(-value) + "))" : "INT64_C(" + std::to_string(value) + ")";
}

}  // namespace

std::string exprText(const Expr& expr, std::span<const std::string> names) {
  const auto leaf = [&](const ExprNode& node) {
    return node.op == ExprOp::Const ? numberText(node.value) : names[static_cast<size_t>(node.value)];
  };
  return foldExpr<std::string>(expr, leaf, operation);
}

std::string exprFunctions(const std::string& code) {
  std::string text;
  for (const ExprFunction& f : kFunctions)
    if (code.find(std::string(f.name) + "(") != code.npos)
      text +=
          "static int64_t " + std::string(f.name) + "(int64_t a, int64_t b) { return " + std::string(f.body) + "; }\n";
  return text;
}

}  // namespace svod
