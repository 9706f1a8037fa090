#include "driver/to_expr.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/text.h"

namespace svod {

namespace {

std::optional<ExprOp> exprOp(Op op) {
  switch (op) {
    case Op::Add: return ExprOp::Add;
    case Op::Sub: return ExprOp::Sub;
    case Op::Mul: return ExprOp::Mul;
    case Op::Floordiv: return ExprOp::FloorDiv;
    case Op::Floormod: return ExprOp::Mod;
    case Op::Max: return ExprOp::Max;
    case Op::Min: return ExprOp::Min;
    default: return std::nullopt;
  }
}

}  // namespace

Result<Expr> toExpr(UOp dim, std::span<const std::string> names) {
  std::map<uint32_t, Expr> exprOf;
  for (UOp n : toposort(dim)) {
    if (n.isConst()) {
      exprOf[n.id()] = Expr(n.constInt());
    } else if (n.op() == Op::Var) {
      auto it = std::find(names.begin(), names.end(), n.argAs<VarArg>().name);
      exprOf[n.id()] = Expr::variable(static_cast<uint32_t>(it - names.begin()));
    } else if (n.op() == Op::Cast && n.dtype() == DType::Index) {
      exprOf[n.id()] = exprOf[n.src(0).id()];
    } else if (n.op() == Op::Neg) {
      exprOf[n.id()] = Expr(0) - exprOf[n.src(0).id()];
    } else if (auto op = exprOp(n.op())) {
      exprOf[n.id()] = Expr::make(*op, exprOf[n.src(0).id()], exprOf[n.src(1).id()]);
    } else {
      return fail(Diag::Unsupported, "the size " + toExpr(dim) + " uses " + std::string(toText(n.op())),
                  "sizes may use + - * // % max min over variables");
    }
  }
  return exprOf[dim.id()];
}

}  // namespace svod
