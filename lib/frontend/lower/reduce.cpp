// Reductions and statistics.
#include <algorithm>

#include "frontend/graph_op.h"

namespace svod {

namespace {

bool keep(OpCall& call) { return call.flag("keepdims"); }

// Elements folded into one, as a size.
Dim foldedCount(OpCall& call, const Tensor& x, const std::vector<int>& axes) {
  Dim count = call.b.dim(1);
  if (axes.empty()) {
    for (const Dim& d : x.dims()) count = count * d;
  } else {
    for (int axis : axes) count = count * x.dim(axis);
  }
  return count;
}

Tensor asBool(Tensor x) { return cast(x, DType::Bool); }

// Statistics are computed in at least f32 and rounded once at the end.
Tensor wideFloat(Tensor x) { return cast(x, isFloat(x.dtype()) ? sumDType(x.dtype()) : DType::F32); }
DType resultFloat(const Tensor& x) { return isFloat(x.dtype()) ? x.dtype() : DType::F32; }

Tensor countAs(Dim count, const Tensor& like) { return cast(like.builder()->value(count), like.dtype()); }

Tensor mean(OpCall& call, Tensor x, const std::vector<int>& axes, bool keepDims) {
  Tensor total = reduce(Op::Add, x, axes, keepDims);
  return total ? total / countAs(foldedCount(call, x, axes), total) : total;
}

Tensor variance(OpCall& call) {
  Tensor x = wideFloat(call.arg(0));
  std::vector<int> axes = call.axes("axes");
  Tensor distance = x - mean(call, x, axes, true);
  Tensor squares = reduce(Op::Add, distance * distance, axes, keep(call));
  if (!squares) return {};
  Tensor count = countAs(foldedCount(call, x, axes), squares);
  double correction = call.number("correction");
  return squares / (correction == 0 ? count : count - correction);
}

Tensor extremePosition(OpCall& call, Op op) {
  Tensor x = call.arg(0);
  int axis = call.b.axis(x, call.integer("axis"));
  DType dtype = call.dtype("dtype");
  if (axis < 0) return {};
  if (!isInt(dtype))
    return call.fail(Diag::BadAttribute, "positions of dtype " + std::string(toText(dtype)), "use i32 or i64");
  if (x.dim(axis).max() == 0)
    return call.fail(Diag::ShapeMismatch, "axis " + std::to_string(axis) + " of " + describe(x) + " has no elements");
  Tensor isExtreme = eq(x, reduce(op, x, {{axis}}, true));
  if (isFloat(x.dtype())) isExtreme = either(isExtreme, isNan(x));
  DType narrow = x.dim(axis).max() <= INT32_MAX ? DType::I32 : DType::I64;
  Tensor position = cast(call.b.iota(x.dim(axis)), narrow);
  for (int i = axis + 1; i < x.rank(); ++i) position = unsqueeze(position, -1);
  bool last = call.flag("last");
  Tensor outside = call.b.constant(Scalar::ofInt(narrow, last ? -1 : maxInt(narrow)));
  return cast(reduce(last ? Op::Max : Op::Min, where(isExtreme, position, outside), {{axis}}, keep(call)), dtype);
}

}  // namespace

Results lowerSum(OpCall& call) { return accumulate(Op::Add, call.arg(0), call.axes("axes"), keep(call)); }
Results lowerProd(OpCall& call) { return accumulate(Op::Mul, call.arg(0), call.axes("axes"), keep(call)); }
Results lowerReduceMax(OpCall& call) { return reduce(Op::Max, call.arg(0), call.axes("axes"), keep(call)); }
Results lowerReduceMin(OpCall& call) { return reduce(Op::Min, call.arg(0), call.axes("axes"), keep(call)); }
Results lowerFold(OpCall& call) {
  std::string with = call.word("with");
  Op op = with == "add" ? Op::Add : with == "mul" ? Op::Mul : with == "max" ? Op::Max : Op::Min;
  return reduce(op, call.arg(0), call.axes("axes"), keep(call));
}
Results lowerAny(OpCall& call) { return reduce(Op::Max, asBool(call.arg(0)), call.axes("axes"), keep(call)); }
Results lowerAll(OpCall& call) { return reduce(Op::Min, asBool(call.arg(0)), call.axes("axes"), keep(call)); }

Results lowerMean(OpCall& call) {
  return cast(mean(call, wideFloat(call.arg(0)), call.axes("axes"), keep(call)), resultFloat(call.arg(0)));
}

Results lowerVar(OpCall& call) { return cast(variance(call), resultFloat(call.arg(0))); }
Results lowerStd(OpCall& call) { return cast(sqrt(variance(call)), resultFloat(call.arg(0))); }

Results lowerLogSumExp(OpCall& call) {
  Tensor x = wideFloat(call.arg(0));
  std::vector<int> axes = call.axes("axes");
  Tensor top = reduce(Op::Max, x, axes, true);
  // An infinite maximum would give inf - inf; it is the result itself.
  Tensor finite = where(eq(top - top, 0), top, 0);
  Tensor total = reduce(Op::Add, exp(x - finite), axes, true);
  Tensor result = log(total) + finite;
  if (!result) return Tensor();
  if (!keep(call)) {
    Dims kept;
    for (int i = 0; i < x.rank(); ++i) {
      bool folded = axes.empty() || std::ranges::any_of(axes, [&](int a) { return a == i || a + x.rank() == i; });
      if (!folded) kept.add(x.dim(i));
    }
    result = reshape(result, kept);
  }
  return cast(result, resultFloat(call.arg(0)));
}

Results lowerArgmax(OpCall& call) { return extremePosition(call, Op::Max); }
Results lowerArgmin(OpCall& call) { return extremePosition(call, Op::Min); }

}  // namespace svod
