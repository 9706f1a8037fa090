// Ops of com.microsoft that are like others, and small ones.
#include <string>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"
#include "onnx/ops/steps.h"

namespace svod {

// x with a dim of 1 at an axis.
Results onnxExpandDims(OnnxNode& n) {
  const std::vector<int64_t> at = n.integers(1);
  if (n.b.failed() || !n.require(at.size() == 1, "the axis is one number")) return Tensor();
  const int axis = n.axis(at[0], n.arg(0).rank() + 1);
  return axis < 0 ? Tensor() : n.call("unsqueeze", {n.arg(0)}, {{"axes", AttributeValue::List{axis}}});
}

// Range with a step of 1 where there is none.
Results onnxRange(OnnxNode& n);
Results onnxRangeOfOnes(OnnxNode& n) {
  if (n.has(2)) return onnxRange(n);
  OnnxNode inner = n.withArgs({n.arg(0), n.arg(1), n.b.constant(Scalar::of(n.arg(0).dtype(), 1))});
  return onnxRange(inner);
}

// Entries as they come, where each is found again, and how often.
Results onnxUnique(OnnxNode& n);
Results onnxUniqueInOrder(OnnxNode& n) {
  Results all = onnxUnique(n);
  return all.size() == 4 ? Results(std::vector{all[0], all[2], all[3]}) : all;
}

// Distances of all rows of a and b.
Results onnxCDist(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  const std::string metric = n.word("metric");
  if (!n.require(a.rank() == 2 && b.rank() == 2, "a and b are matrices") ||
      !n.require(metric == "euclidean" || metric == "sqeuclidean", "'metric' is euclidean or sqeuclidean"))
    return Tensor();
  Tensor distance = unsqueeze(a, 1) - unsqueeze(b, 0), squares = sum(distance * distance, 2);
  return metric == "euclidean" ? sqrt(squares) : squares;
}

// By elimination of [x | 1], column after column, with the largest element that is left of each as pivot.
Results onnxInverse(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() >= 2 && n.b.agree(x.dim(-1), x.dim(-2)), "x is [.., m, m]")) return Tensor();
  const Dim size = x.dim(-1), one = n.b.dim(1);
  if (size.is(0)) return x;
  const DType wide = computeDType(x);
  Tensor place = cast(n.b.iota(size), DType::I64), rows = unsqueeze(place, -1);
  Tensor identity = expand(cast(eq(rows, place), wide), x.dims());
  auto eliminated = [&](const StepInputs& in) -> std::optional<StepResults> {
    Tensor m = in.state[0], at = cast(n.b.value(in.at), DType::I64), column = squeeze(narrow(m, -1, in.at, one), -1);
    Tensor best = n.call("argmax", {where(lt(place, at), -1, abs(column))}, {{"axis", -1}, {"keepdims", true}});
    Tensor isBest = unsqueeze(eq(place, best), -1), isMine = eq(rows, at);
    Tensor pivotRow = contiguous(sum(where(isBest, m, 0), -2, true)), mine = narrow(m, -2, in.at, one);
    Tensor scaled = contiguous(pivotRow / narrow(pivotRow, -1, in.at, one));
    Tensor others = where(isBest, mine, m);
    Tensor left = others - narrow(others, -1, in.at, one) * scaled;
    if (!left) return std::nullopt;
    return StepResults{{}, {contiguous(where(isMine, scaled, left))}, {}};
  };
  StepLoop loop;
  loop.count = size;
  std::optional<StepTotals> totals =
      runSteps(n, loop, {n.call("concat", {cast(x, wide), identity}, {{"axis", -1}})}, eliminated);
  return totals ? cast(narrow(totals->state[0], -1, size, size), x.dtype()) : Tensor();
}

// The transform of a real signal, [.., n] to [.., n / 2 + 1, 2], and back to an even n.
Results onnxDft(OnnxNode& n);
Results onnxRealDft(OnnxNode& n) {
  if (n.integer("signal_ndim") != 1 || n.flag("normalized") || !n.flag("onesided"))
    return n.unsupported("a transform that is not one-sided along one axis, or that is scaled",
                         "signal_ndim = 1, normalized = 0, onesided = 1");
  const bool isInverse = n.flag("inverse");
  OnnxNode inner = n.withArgs({isInverse ? n.arg(0) : unsqueeze(n.arg(0), -1)});
  Results y = onnxDft(inner);
  return n.b.failed() ? Tensor() : isInverse ? squeeze(y[0], -1) : y[0];
}

}  // namespace svod
