#include "driver/estimate.h"

#include <map>

#include "driver/to_expr.h"

namespace svod {

namespace {

Result<Expr> iterations(UOp node, std::span<const std::string> names) {
  Expr count = 1;
  for (UOp r : node.ranges()) {
    Result<Expr> extent = toExpr(r.src(0), names);  // code may not need a variable that the loops had
    count = count * (extent ? *extent : Expr(r.src(0).bounds().max));
  }
  return count;
}

bool isCounted(UOp n) {
  if (n.op() != Op::Reduce && !isElementwise(n.op())) return false;
  if (isFloat(n.dtype())) return n.op() != Op::Where && n.op() != Op::Cast && n.op() != Op::Bitcast;
  const bool sumsUp = n.op() == Op::Reduce && (n.argAs<ReduceArg>().op == Op::Add || n.argAs<ReduceArg>().op == Op::Mul);
  return (sumsUp || n.op() == Op::Mul || n.op() == Op::Mulacc) && isInt(n.dtype()) && n.dtype() != DType::Index;
}

}  // namespace

Result<Estimate> estimate(UOp sink, std::span<const std::string> names) {
  Estimate total;
  std::map<uint32_t, std::pair<Expr, Expr>> accessOf;  // by param id: times accessed, elements
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Load || n.op() == Op::Store) {
      UOp base = storageOf(n.src(0));
      if (base.op() != Op::Param) continue;
      SVOD_TRY(Expr times, iterations(n, names));
      auto& [sum, size] = accessOf[base.id()];
      sum = sum + times, size = base.src(0).bounds().max;
    } else if (isCounted(n)) {
      SVOD_TRY(Expr times, iterations(n.op() == Op::Reduce ? n.src(0) : n, names));
      total.flops = total.flops + (n.op() == Op::Mulacc ? Expr(2) * times : times);
    }
  }
  for (UOp n : toposort(sink))
    if (auto it = accessOf.find(n.id()); it != accessOf.end())
      total.bytes = total.bytes + Expr(byteSize(n.dtype())) * Expr::make(ExprOp::Min, it->second.first, it->second.second);
  return total;
}

}  // namespace svod
