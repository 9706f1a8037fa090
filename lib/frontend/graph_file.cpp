#include "frontend/graph_file.h"

#include <algorithm>

namespace svod {

std::string_view toText(StatementKind kind) {
  constexpr std::string_view kText[] = {"var",  "input", "weight", "state",  "let", "assign", "output",
                                        "temp", "loop",  "if",     "repeat", "def", "return"};
  return kText[static_cast<size_t>(kind)];
}

GraphExpr GraphExpr::name(std::string text) {
  GraphExpr e;
  e.text = std::move(text);
  return e;
}

GraphExpr GraphExpr::ofInt(int64_t value) {
  GraphExpr e;
  e.kind = ExprKind::Int;
  e.integer = value;
  return e;
}

GraphExpr GraphExpr::ofFloat(double value) {
  GraphExpr e;
  e.kind = ExprKind::Float;
  e.number = value;
  return e;
}

GraphExpr GraphExpr::ofBool(bool value) {
  GraphExpr e;
  e.kind = ExprKind::Bool;
  e.flag = value;
  return e;
}

GraphExpr GraphExpr::string(std::string text) {
  GraphExpr e;
  e.kind = ExprKind::String;
  e.text = std::move(text);
  return e;
}

namespace {
GraphExpr withItems(ExprKind kind, std::vector<GraphExpr> items) {
  GraphExpr e;
  e.kind = kind;
  for (const GraphExpr& item : items) e.depth = std::max(e.depth, item.depth + 1);
  e.items = std::move(items);
  return e;
}
}  // namespace

GraphExpr GraphExpr::list(std::vector<GraphExpr> items) { return withItems(ExprKind::List, std::move(items)); }

GraphExpr GraphExpr::call(std::string op, std::vector<GraphExpr> operands) {
  GraphExpr e = withItems(ExprKind::Call, std::move(operands));
  e.text = std::move(op);
  return e;
}

namespace {
int strengthOf(std::string_view op) { return op == "+" || op == "-" ? 0 : 1; }
}  // namespace

int binaryStrength(const GraphExpr& e) {
  if (e.kind == ExprKind::Chain) return strengthOf(e.operators[0].text);
  const bool isBinary =
      e.kind == ExprKind::Call && e.attributes.empty() && e.items.size() == 2 && isOperator(e.text, 2);
  return isBinary ? strengthOf(e.text) : -1;
}

GraphExpr GraphExpr::binary(GraphExpr left, OperatorAt op, GraphExpr right) {
  if (binaryStrength(left) != strengthOf(op.text)) {
    const Position at = op.at;
    std::vector<GraphExpr> sides;
    sides.push_back(std::move(left));
    sides.push_back(std::move(right));
    GraphExpr e = call(std::move(op.text), std::move(sides));
    e.at = at;
    return e;
  }
  if (left.kind == ExprKind::Call) {
    left.kind = ExprKind::Chain;
    left.operators.push_back({std::move(left.text), left.at});
    left.text.clear();
  }
  left.at = op.at;
  left.depth = std::max(left.depth, right.depth + 1);
  left.items.push_back(std::move(right));
  left.operators.push_back(std::move(op));
  return left;
}

bool isOperator(std::string_view op, size_t operands) {
  if (operands == 1) return op == "-";
  return operands == 2 && (op == "+" || op == "-" || op == "*" || op == "/" || op == "//" || op == "%");
}

bool isData(const GraphExpr& e) {
  return e.kind == ExprKind::Name ? e.text == "zeros" || e.text == "ones" : e.kind < ExprKind::Call;
}

}  // namespace svod
