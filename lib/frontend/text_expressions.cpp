// Expressions of the text form.
#include <algorithm>
#include <cmath>
#include <span>

#include "frontend/text_parser.h"

namespace svod {

Result<std::vector<GraphExpr>> TextParser::exprList(int depth, std::string_view close) {
  std::vector<GraphExpr> items;
  open_.push_back(token_.at);
  SVOD_CHECK(advance());
  while (!isSymbol(close)) {
    SVOD_TRY(GraphExpr item, expr(depth + 1));
    items.push_back(std::move(item));
    if (isSymbol(close)) break;
    SVOD_CHECK(expect(",", "or '" + std::string(close) + "' after a list entry"));
  }
  open_.pop_back();
  SVOD_CHECK(advance());
  return items;
}

namespace {

/// Operators that are another way to write an op of the table.
struct OperatorOp {
  std::string_view symbol, op;
};
constexpr OperatorOp kComparisons[] = {{"<", "lt"},  {"<=", "le"}, {">", "gt"},
                                       {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}};
constexpr std::string_view kSums[] = {"+", "-"};
constexpr std::string_view kProducts[] = {"*", "/", "//", "%", "@"};

GraphExpr callAt(std::string_view op, GraphExpr left, GraphExpr right, Position at) {
  std::vector<GraphExpr> operands;
  operands.push_back(std::move(left));
  operands.push_back(std::move(right));
  GraphExpr e = GraphExpr::call(std::string(op), std::move(operands));
  e.at = at;
  return e;
}

}  // namespace

// Comparisons bind weakest and do not chain.
Result<GraphExpr> TextParser::expr(int depth) {
  const auto comparison = [&] {
    return std::ranges::find_if(kComparisons, [&](const OperatorOp& c) { return isSymbol(c.symbol); });
  };
  SVOD_TRY(GraphExpr left, binary(depth, 0));
  const OperatorOp* found = comparison();
  if (found == std::end(kComparisons)) return left;
  const Position at = token_.at;
  SVOD_CHECK(advance());
  SVOD_TRY(GraphExpr right, binary(depth, 0));
  if (comparison() != std::end(kComparisons))
    return failAt(token_.at, "a comparison of a comparison", "write and(a < b, b < c), or set brackets: (a < b) == c");
  left = callAt(found->op, std::move(left), std::move(right), at);
  if (left.depth + depth > kMaxDepth)
    return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  return left;
}

Result<GraphExpr> TextParser::binary(int depth, int level) {
  if (level == 2) return unary(depth);
  std::span<const std::string_view> symbols = level == 0 ? std::span<const std::string_view>(kSums) : kProducts;
  SVOD_TRY(GraphExpr left, binary(depth, level + 1));
  for (;;) {
    std::string_view symbol;
    for (std::string_view s : symbols)
      if (isSymbol(s)) symbol = s;
    if (symbol.empty()) return left;
    Position at = token_.at;
    SVOD_CHECK(advance());
    SVOD_TRY(GraphExpr right, binary(depth, level + 1));
    left = symbol == "@" ? callAt("matmul", std::move(left), std::move(right), at)
                         : GraphExpr::binary(std::move(left), {std::string(symbol), at}, std::move(right));
    if (left.depth + depth > kMaxDepth)
      return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  }
}

Result<GraphExpr> TextParser::unary(int depth) {
  Position at = token_.at;
  SVOD_TRY(bool negative, accept("-"));
  if (!negative) {
    SVOD_TRY(GraphExpr operand, primary(depth));
    while (isSymbol("[")) {
      SVOD_TRY(operand, subscript(depth, std::move(operand)));
    }
    return operand;
  }
  bool isNumber = token_.kind == TokenKind::Int || token_.kind == TokenKind::Float || isWord("inf");
  if (depth >= kMaxDepth)
    return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  SVOD_TRY(GraphExpr operand, unary(depth + 1));
  if (isNumber && operand.kind == ExprKind::Int && (!operand.isBig || operand.integer == INT64_MIN)) {
    operand.integer = static_cast<int64_t>(-static_cast<uint64_t>(operand.integer));
    operand.isBig = false;
  } else if (isNumber && operand.kind == ExprKind::Float) {
    operand.number = -operand.number;
  } else {
    std::vector<GraphExpr> operands;
    operands.push_back(std::move(operand));
    operand = GraphExpr::call("-", std::move(operands));
  }
  operand.at = at;
  return operand;
}

Result<GraphExpr> TextParser::primary(int depth) {
  if (depth >= kMaxDepth)
    return failAt(token_.at, "an expression is nested too deeply", "name parts of it on lines of their own");
  if (++values_ > kMaxValues)
    return failAt(token_.at, "the file holds more than 2^21 values", "put data into a .npy or .safetensors file");
  Token token = token_;
  GraphExpr result;
  if (token.kind == TokenKind::Name) {
    SVOD_CHECK(advance());
    if (isSymbol("(")) return call(depth, std::move(token));
    if (!token.quoted && (token.text == "true" || token.text == "false")) {
      result = GraphExpr::ofBool(token.text == "true");
    } else if (!token.quoted && (token.text == "inf" || token.text == "nan")) {
      result = GraphExpr::ofFloat(token.text == "inf" ? HUGE_VAL : NAN);
    } else {
      result = GraphExpr::name(std::move(token.text));
    }
  } else if (token.kind == TokenKind::Int) {
    result = GraphExpr::ofInt(token.integer);
    result.isBig = token.isBig;
    SVOD_CHECK(advance());
  } else if (token.kind == TokenKind::Float) {
    result = GraphExpr::ofFloat(token.number);
    SVOD_CHECK(advance());
  } else if (token.kind == TokenKind::String) {
    result = GraphExpr::string(std::move(token.text));
    SVOD_CHECK(advance());
  } else if (isSymbol("[")) {
    SVOD_TRY(std::vector<GraphExpr> items, exprList(depth, "]"));
    result = GraphExpr::list(std::move(items));
  } else if (isSymbol("(")) {
    open_.push_back(token_.at);
    SVOD_CHECK(advance());
    SVOD_TRY(result, expr(depth + 1));
    open_.pop_back();
    return expect(")", "to close the bracket").map([&] { return std::move(result); });
  } else {
    return unexpected("a value", isSymbol("*") ? "a power is written pow(x, 2)" : "a name, a number, a list or op(..)");
  }
  result.at = token.at;
  return result;
}

Result<GraphExpr> TextParser::call(int depth, Token name) {
  GraphExpr result = GraphExpr::call(std::move(name.text), {});
  result.at = name.at;
  open_.push_back(token_.at);
  SVOD_CHECK(advance());
  SVOD_CHECK(arguments(depth, result));
  open_.pop_back();
  SVOD_CHECK(advance());
  return result;
}

// Operands, then attributes as name=value, up to the closing bracket.
Status TextParser::arguments(int depth, GraphExpr& call) {
  while (!isSymbol(")")) {
    Position at = token_.at;
    bool mayBeAttribute = token_.kind == TokenKind::Name;
    SVOD_TRY(GraphExpr value, expr(depth + 1));
    if (isSymbol("=")) {
      if (!mayBeAttribute || value.kind != ExprKind::Name)
        return unexpected("',' or ')'", "attributes are written name=value");
      SVOD_CHECK(advance());
      std::string name = std::move(value.text);
      for (const Argument& a : call.attributes)
        if (a.name == name) return failAt(at, "attribute '" + name + "' is given twice", "keep one of them");
      if (call.attributes.size() >= kMaxAttributes)
        return failAt(at, "a call has more than 64 attributes", "no op takes that many");
      SVOD_TRY(value, expr(depth + 1));
      call.depth = std::max(call.depth, value.depth + 1);
      call.attributes.push_back({std::move(name), std::move(value), at});
    } else if (!call.attributes.empty()) {
      return failAt(at, "an operand stands behind an attribute", "operands come first");
    } else {
      call.depth = std::max(call.depth, value.depth + 1);
      call.items.push_back(std::move(value));
    }
    if (isSymbol(")")) break;
    SVOD_CHECK(expect(",", "or ')' after an argument"));
  }
  return {};
}

Result<GraphExpr> TextParser::onlyExpr() {
  SVOD_CHECK(advance());
  SVOD_TRY(GraphExpr result, expr(1));
  if (token_.kind != TokenKind::End) return unexpected("the end of the expression");
  return result;
}

}  // namespace svod
