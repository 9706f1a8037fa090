// Small integer expressions over variables: shapes, tile counts and estimates of a plan.
// Text: 64-bit integers, names, + - * // % (floor division and modulo), parentheses, max(a,b), min(a,b),
// ceildiv(a,b). A name that is no identifier stands in backquotes. Example: "(n*4+3)//8".
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace svod {

/// Operators and functions: OP(enumerator, text, binding strength; 0 for functions).
#define SVOD_EXPR_OPS(OP) \
  OP(Add, "+", 1)         \
  OP(Sub, "-", 1)         \
  OP(Mul, "*", 2)         \
  OP(FloorDiv, "//", 2)   \
  OP(Mod, "%", 2)         \
  OP(Max, "max", 0)       \
  OP(Min, "min", 0)       \
  OP(CeilDiv, "ceildiv", 0)

enum class ExprOp : uint8_t {
  Const,
  Var,
#define SVOD_EXPR_OP(name, text, strength) name,
  SVOD_EXPR_OPS(SVOD_EXPR_OP)
#undef SVOD_EXPR_OP
};

/// One word of an expression in postfix order.
struct ExprNode {
  ExprOp op = ExprOp::Const;
  int64_t value = 0;  // Const: the number; Var: an index into the names and values the expression is used with
  bool operator==(const ExprNode&) const = default;
};

/// Never empty: `Expr()` is the constant 0. Building folds constants and x+0, x*1 and the like.
class Expr {
 public:
  static constexpr size_t kMaxNodes = 4096, kMaxDepth = 32;  // words, and parentheses or calls around each other

  Expr(int64_t value = 0) : nodes_{{ExprOp::Const, value}} {}
  static Expr variable(uint32_t index) { return Expr({ExprOp::Var, index}); }
  static Expr make(ExprOp op, Expr a, const Expr& b);

  std::span<const ExprNode> nodes() const { return nodes_; }
  std::optional<int64_t> constant() const;    // the value, if it is one number
  std::optional<uint32_t> singleVar() const;  // the index, if it is one variable and nothing else
  /// Largest variable index plus one; 0 without variables.
  uint32_t varCount() const;

  /// The value, or nothing on overflow, division by zero, a missing variable or too deep nesting. No
  /// allocation.
  std::optional<int64_t> tryEvaluate(std::span<const int64_t> values) const noexcept;
  /// The expression as times * variable + constant, where the other variables have these values; nothing where it is
  /// not of that form, and as for tryEvaluate. No allocation.
  struct Line {
    int64_t times = 0, constant = 0;
    bool operator==(const Line&) const = default;
  };
  std::optional<Line> lineIn(uint32_t variable, std::span<const int64_t> values) const noexcept;
  /// As tryEvaluate, with an error that shows the expression and the values.
  Result<int64_t> evaluate(std::span<const int64_t> values, std::span<const std::string> names) const;

  bool operator==(const Expr&) const = default;

 private:
  /// What waits around the innermost operand: at every depth a sum, a product in it and the first operand of a call.
  static constexpr size_t kMaxStack = 3 * kMaxDepth;
  explicit Expr(ExprNode node) : nodes_{node} {}
  std::vector<ExprNode> nodes_;
};

inline Expr operator+(Expr a, const Expr& b) { return Expr::make(ExprOp::Add, std::move(a), b); }
inline Expr operator-(Expr a, const Expr& b) { return Expr::make(ExprOp::Sub, std::move(a), b); }
inline Expr operator*(Expr a, const Expr& b) { return Expr::make(ExprOp::Mul, std::move(a), b); }

/// Whether parseExpr takes the text of the expression: at most kMaxNodes words, nested less than kMaxDepth deep.
bool canBeRead(const Expr& expr);
/// Variables print as names[index]; indices beyond `names` print as $index.
std::string toText(const Expr& expr, std::span<const std::string> names);
/// Errors are Diag::BadPlan and show the text.
Result<Expr> parseExpr(std::string_view text, std::span<const std::string> names);

}  // namespace svod
