// The one walk of an integer expression: what its nodes become, from the operands up.
#pragma once
#include <utility>
#include <vector>

#include "plan/expr.h"

namespace svod {

/// What the root becomes. `leaf(node)` is given constants and variables, `combine(op, a, b)` what the operands became.
template <typename Value, typename Leaf, typename Combine>
Value foldExpr(const Expr& expr, const Leaf& leaf, const Combine& combine) {
  std::vector<Value> stack;
  for (const ExprNode& node : expr.nodes()) {
    if (node.op == ExprOp::Const || node.op == ExprOp::Var) {
      stack.push_back(leaf(node));
      continue;
    }
    const Value b = std::move(stack.back());
    stack.pop_back();
    const Value a = std::move(stack.back());
    stack.back() = combine(node.op, a, b);
  }
  return std::move(stack.back());
}

}  // namespace svod
