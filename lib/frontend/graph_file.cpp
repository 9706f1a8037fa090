#include "frontend/graph_file.h"

#include <algorithm>

namespace svod {

std::string_view toText(StatementKind kind) {
  constexpr std::string_view kText[] = {"var", "input", "weight", "state", "let", "assign", "output"};
  return kText[static_cast<size_t>(kind)];
}

Expr Expr::name(std::string text) {
  Expr e;
  e.text = std::move(text);
  return e;
}

Expr Expr::ofInt(int64_t value) {
  Expr e;
  e.kind = ExprKind::Int;
  e.integer = value;
  return e;
}

Expr Expr::ofFloat(double value) {
  Expr e;
  e.kind = ExprKind::Float;
  e.number = value;
  return e;
}

Expr Expr::ofBool(bool value) {
  Expr e;
  e.kind = ExprKind::Bool;
  e.flag = value;
  return e;
}

Expr Expr::string(std::string text) {
  Expr e;
  e.kind = ExprKind::String;
  e.text = std::move(text);
  return e;
}

namespace {
Expr withItems(ExprKind kind, std::vector<Expr> items) {
  Expr e;
  e.kind = kind;
  for (const Expr& item : items) e.depth = std::max(e.depth, item.depth + 1);
  e.items = std::move(items);
  return e;
}
}  // namespace

Expr Expr::list(std::vector<Expr> items) { return withItems(ExprKind::List, std::move(items)); }

Expr Expr::call(std::string op, std::vector<Expr> operands) {
  Expr e = withItems(ExprKind::Call, std::move(operands));
  e.text = std::move(op);
  return e;
}

}  // namespace svod
