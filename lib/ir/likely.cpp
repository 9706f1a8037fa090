#include "ir/likely.h"

#include <algorithm>

#include "ir/evaluate.h"

namespace svod {

int64_t likelySize(UOp dim) {
  if (dim.isConst()) return dim.constInt();
  const Interval bounds = dim.bounds();
  const std::optional<Scalar> value = evaluate(dim, [](UOp leaf) -> std::optional<Scalar> {
    if (leaf.op() != Op::Var) return std::nullopt;
    return Scalar::ofInt(leaf.dtype(), leaf.argAs<VarArg>().likely);
  });
  return value ? std::clamp(value->asInt(), bounds.min, bounds.max) : bounds.max;
}

int64_t likelyNumel(UOp tensor) {
  int64_t count = 1;
  for (UOp dim : tensor.shape())
    if (__builtin_mul_overflow(count, std::max<int64_t>(1, likelySize(dim)), &count)) return INT64_MAX;
  return count;
}

}  // namespace svod
