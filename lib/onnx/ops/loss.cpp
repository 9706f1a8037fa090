// Losses of classes along axis 1.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

// -weight[target] * x[target], where a target that is ignored counts nothing.
Tensor likelihoodLoss(OnnxNode& n, Tensor x, Tensor target, Tensor weight) {
  Dims want = x.dims();
  want.erase(1);
  if (!n.require(x.rank() >= 2 && target.dims() == want, "targets have the shape of x without its axis 1")) return {};
  Tensor isIgnored = n.has("ignore_index") ? eq(target, n.integer("ignore_index")) : Tensor();
  Tensor chosen = isIgnored ? where(isIgnored, 0, target) : target;
  Tensor picked = n.call("gather_elements", {x, unsqueeze(chosen, 1)}, {{"axis", 1}});
  if (!picked) return {};
  DType wide = computeDType(x);
  Tensor loss = -cast(squeeze(picked, 1), wide), share;
  if (weight) share = cast(n.call("gather", {weight, chosen}, {{"axis", 0}}), wide);
  if (isIgnored) share = where(isIgnored, 0.0, share ? share : n.b.constant(Scalar::of(wide, 1)));
  if (share) loss = isIgnored ? where(isIgnored, 0.0, loss * share) : loss * share;

  std::string reduction = n.word("reduction");
  if (reduction == "none") return cast(loss, x.dtype());
  if (!n.require(reduction == "sum" || reduction == "mean", "'reduction' is none, sum or mean")) return {};
  Tensor total = n.call("sum", {loss});
  if (reduction == "mean") total = share ? total / n.call("sum", {expand(share, loss.dims())}) : n.call("mean", {loss});
  return cast(total, x.dtype());
}

}  // namespace

Results onnxNllLoss(OnnxNode& n) { return likelihoodLoss(n, n.arg(0), n.arg(1), n.arg(2)); }

Results onnxCrossEntropyLoss(OnnxNode& n) {
  Tensor logarithms = n.call("log_softmax", {n.arg(0)}, {{"axis", 1}});
  if (!logarithms) return Tensor();
  return std::vector<Tensor>{likelihoodLoss(n, logarithms, n.arg(1), n.arg(2)), logarithms};
}

}  // namespace svod
