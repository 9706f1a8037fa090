#include "tensor/softmax.h"

#include <set>

#include "tensor/nodes.h"

namespace svod {

namespace {

bool folds(UOp n, Op op, UOp values) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == op &&
         belowArrangement(n.src(0)) == belowArrangement(values);
}

}  // namespace

std::optional<ExpOfDistance> expOfDistance(UOp values) {
  values = belowArrangement(values);
  if (values.op() != Op::Exp || values.src(0).op() != Op::Sub) return std::nullopt;
  UOp x = values.src(0).src(0), max = belowArrangement(values.src(0).src(1));
  return folds(max, Op::Max, x) ? std::optional(ExpOfDistance{x, max}) : std::nullopt;
}

bool isSumOfExp(UOp n, UOp values) { return folds(n, Op::Add, values) && expOfDistance(values); }

std::optional<Normalized> normalizedOf(UOp n) {
  if (n.op() == Op::Fdiv && isSumOfExp(belowArrangement(n.src(1)), n.src(0)))
    return Normalized{n.src(0), n.src(1), Op::Fdiv};
  if (n.op() != Op::Mul) return std::nullopt;
  for (int i : {0, 1}) {
    UOp values = n.src(1 - i), scale = belowArrangement(n.src(i));
    if (scale.op() == Op::Recip && isSumOfExp(belowArrangement(scale.src(0)), values))
      return Normalized{values, n.src(i), Op::Mul};
  }
  return std::nullopt;
}

bool hasSoftmaxFactor(UOp terms) {
  std::vector<UOp> open{terms};
  std::set<uint32_t> seen;
  while (!open.empty()) {
    UOp n = open.back();
    open.pop_back();
    if (expOfDistance(n)) return true;
    if (!seen.insert(n.id()).second || !(isElementwise(n.op()) || isMovement(n.op()))) continue;
    open.insert(open.end(), n.src().begin(), n.src().end());
  }
  return false;
}

bool isProductSum(UOp n) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add && n.src(0).op() == Op::Mul;
}

bool isNormalizedLate(UOp n) {
  if ((n.op() != Op::Mul && n.op() != Op::Fdiv) || !isProductSum(n.src(0))) return false;
  UOp scale = belowMovement(n.src(1));
  if (scale.op() == Op::Recip) scale = belowMovement(scale.src(0));
  return scale.op() == Op::Reduce && isSumOfExp(scale, scale.src(0));
}

}  // namespace svod
