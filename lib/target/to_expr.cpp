#include "target/to_expr.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/text.h"

namespace svod {

namespace {

struct BinaryRow {
  Op op;
  ExprOp expr;
  bool nonNegativeOnly;  // the same value for operands of at least 0
};
constexpr BinaryRow kBinary[] = {
    {Op::Add, ExprOp::Add, false},           {Op::Sub, ExprOp::Sub, false},      {Op::Mul, ExprOp::Mul, false},
    {Op::Floordiv, ExprOp::FloorDiv, false}, {Op::Floormod, ExprOp::Mod, false}, {Op::Max, ExprOp::Max, false},
    {Op::Min, ExprOp::Min, false},           {Op::Cdiv, ExprOp::FloorDiv, true}, {Op::Cmod, ExprOp::Mod, true},
};

/// Shifts and masks by constants, which legalization makes of divisions by powers of two.
std::optional<Expr> powerOfTwo(UOp n, const Expr& operand) {
  if (n.srcCount() != 2 || !n.src(1).isConst()) return std::nullopt;
  const int64_t c = n.src(1).constInt();
  const bool isShift = c >= 0 && c < 62;
  if (n.op() == Op::Shr && isShift) return Expr::make(ExprOp::FloorDiv, operand, Expr(int64_t{1} << c));
  if (n.op() == Op::Shl && isShift) return operand * Expr(int64_t{1} << c);
  if (n.op() == Op::And && c > 0 && (c & (c + 1)) == 0) return Expr::make(ExprOp::Mod, operand, Expr(c + 1));
  return std::nullopt;
}

std::optional<Expr> binary(UOp n, const Expr& a, const Expr& b) {
  for (const BinaryRow& row : kBinary) {
    if (row.op != n.op()) continue;
    if (row.nonNegativeOnly && (n.src(0).bounds().min < 0 || n.src(1).bounds().min <= 0)) return std::nullopt;
    return Expr::make(row.expr, a, b);
  }
  return powerOfTwo(n, a);
}

tl::unexpected<Error> tooLong(UOp dim) {
  constexpr size_t kMostShown = 200;
  return fail(Diag::TooLarge,
              "a size of the plan is too long an expression: " + toExpr(dim).substr(0, kMostShown) + "..",
              "a plan has sizes of up to " + std::to_string(Expr::kMaxNodes) +
                  " words; --var n=8 or --var n=m makes it shorter");
}

}  // namespace

Result<Expr> toExpr(UOp dim, std::span<const std::string> names) {
  std::map<uint32_t, Expr> exprOf;
  for (UOp n : toposort(dim)) {
    if (n.isConst()) {
      exprOf[n.id()] = Expr(n.constInt());
    } else if (n.op() == Op::Var) {
      auto it = std::find(names.begin(), names.end(), n.argAs<VarArg>().name);
      if (it == names.end())
        return fail(Diag::CompileFailed,
                    "internal error: '" + std::string(n.argAs<VarArg>().name) + "' is no variable here");
      exprOf[n.id()] = Expr::variable(static_cast<uint32_t>(it - names.begin()));
    } else if (n.op() == Op::Cast && isInt(n.dtype()) && isInt(n.src(0).dtype())) {
      exprOf[n.id()] = exprOf[n.src(0).id()];  // sizes fit every dtype that legalization gives them
    } else if (n.op() == Op::Neg) {
      exprOf[n.id()] = Expr(0) - exprOf[n.src(0).id()];
    } else if (auto expr = n.srcCount() == 2 ? binary(n, exprOf[n.src(0).id()], exprOf[n.src(1).id()]) : std::nullopt) {
      exprOf[n.id()] = *expr;
    } else {
      return fail(Diag::Unsupported, "the size " + toExpr(dim) + " uses " + std::string(toText(n.op())),
                  "sizes may use + - * // % max min over variables");
    }
    if (exprOf[n.id()].nodes().size() > Expr::kMaxNodes) return tooLong(dim);
  }
  if (!canBeRead(exprOf[dim.id()])) return tooLong(dim);
  return exprOf[dim.id()];
}

}  // namespace svod
