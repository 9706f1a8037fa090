// Normalizations, computed in at least f32.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

Tensor wide(Tensor x) { return cast(x, computeDType(x)); }

// (x - mean) / sqrt(variance + eps) over axes, with the two on the way.
struct Standardized {
  Tensor y, mean, inverse;
};
Standardized standardized(Tensor x, const std::vector<int>& axes, double eps) {
  Tensor mean = meanOf(x, axes), distance = x - mean;
  Tensor inverse = recip(sqrt(meanOf(distance * distance, axes) + eps));
  return {distance * inverse, mean, inverse};
}

}  // namespace

Results onnxFlatSoftmax(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::string_view op = n.op.name == "Softmax" ? "softmax" : "log_softmax";
  Tensor flat = n.call("flatten", {x}, {{"axis", n.integer("axis")}});
  Tensor y = n.call(op, {flat}, {{"axis", 1}});
  return y ? reshape(y, x.dims()) : Tensor();
}

namespace {

// Parameters are [channels], or the sizes of one image where opsets below 9 say spatial=0.
Tensor channelwise(const Tensor& x, Tensor parameter) {
  parameter = wide(parameter);
  return parameter.rank() == 1 && x.rank() >= 2 ? along(parameter, x.rank(), 1) : parameter;
}

Results trainedBatchNorm(OnnxNode& n, Tensor x) {
  Tensor y = wide(x);
  std::vector<int> axes{0};
  for (int i : axesFrom(2, x.rank())) axes.push_back(i);
  Standardized s = standardized(y, axes, n.number("epsilon"));
  Tensor distance = y - s.mean, variance = meanOf(distance * distance, axes);
  double momentum = n.number("momentum");
  auto running = [&](int i, Tensor now) {
    Tensor before = n.arg(i);
    return cast(wide(before) * momentum + reshape(now, before.dims()) * (1 - momentum), before.dtype());
  };
  Tensor result = s.y * channelwise(x, n.arg(1)) + channelwise(x, n.arg(2));
  return std::vector<Tensor>{cast(result, x.dtype()), running(3, s.mean), running(4, variance)};
}

}  // namespace

Results onnxBatchNorm(OnnxNode& n) {
  Tensor x = n.arg(0);
  Dims dims = x.dims();
  if (x.rank() == 1) x = unsqueeze(x, -1);  // one channel
  if (!n.require(x.rank() >= 2, "x is [n, channels, sizes..]")) return Tensor();
  for (int i = 1; i < 5; ++i)
    if (!n.require(n.arg(i).rank() == 1 || n.has("spatial"), "operands after x are [channels]")) return Tensor();
  if (n.flag("training_mode")) return trainedBatchNorm(n, x);
  for (int i = 1; i < n.resultCount; ++i)
    if (n.wants(i)) return n.unsupported("statistics of a training run as outputs", "the output y alone");
  Tensor factor = channelwise(x, n.arg(1)) * recip(sqrt(channelwise(x, n.arg(4)) + n.number("epsilon")));
  Tensor y = (wide(x) - channelwise(x, n.arg(3))) * factor + channelwise(x, n.arg(2));
  return y ? reshape(cast(y, x.dtype()), dims) : Tensor();
}

Results onnxInstanceNorm(OnnxNode& n) {
  return n.call("instance_norm", {n.arg(0), n.arg(1), n.arg(2)}, {{"eps", n.number("epsilon")}});
}

// Before opset 21 scale and bias have an entry per group.
Results onnxGroupNorm(OnnxNode& n) {
  Tensor x = n.arg(0), scale = n.arg(1), bias = n.arg(2);
  int64_t groups = n.integer("num_groups");
  if (!n.require(x.rank() >= 2 && groups > 0, "x is [n, channels, sizes..] and has groups")) return Tensor();
  if (n.opset < 21) {
    Tensor group = floordiv(n.b.iota(x.dim(1)), n.b.value(floordiv(x.dim(1), groups)));
    scale = take(scale, 0, group), bias = take(bias, 0, group);
  }
  return n.call("group_norm", {x, scale, bias}, {{"groups", groups}, {"eps", n.number("epsilon")}});
}

// Scale and bias broadcast to x; they often have its last dims.
Results onnxLayerNorm(OnnxNode& n) {
  Tensor x = n.arg(0);
  int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  Standardized s = standardized(wide(x), axesFrom(axis, x.rank()), n.number("epsilon"));
  Tensor y = s.y * wide(n.arg(1));
  if (n.has(2)) y = y + wide(n.arg(2));
  DType stash = n.dtype("stash_type");
  if (n.b.failed() || !n.require(y.dims() == x.dims(), "scale and bias broadcast to x")) return Tensor();
  return std::vector<Tensor>{cast(y, x.dtype()), cast(s.mean, stash), cast(s.inverse, stash)};
}

Results onnxRmsNorm(OnnxNode& n) {
  Tensor x = n.arg(0), y = wide(x);
  int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  Tensor inverse = recip(sqrt(meanOf(y * y, axesFrom(axis, x.rank())) + n.number("epsilon")));
  y = y * inverse * wide(n.arg(1));
  if (!y || !n.require(y.dims() == x.dims(), "scale broadcasts to x")) return Tensor();
  return cast(y, isFloat(n.arg(1).dtype()) ? n.arg(1).dtype() : x.dtype());
}

// x / (bias + alpha / size * sum of squares of `size` channels around it) ^ beta
Results onnxLrn(OnnxNode& n) {
  Tensor x = n.arg(0), y = wide(x);
  int64_t size = n.integer("size");
  if (!n.require(x.rank() >= 2, "x is [n, channels, sizes..]") || !n.require(size > 0, "'size' is positive"))
    return Tensor();
  Dim rest = n.b.dim(1);
  for (const Dim& d : x.dims().slice(2, x.rank())) rest = rest * d;
  Tensor rows = reshape(y, {x.dim(0), x.dim(1), rest});
  std::vector<int64_t> kernel{size, 1}, pads{(size - 1) / 2, 0, size / 2, 0}, stride{1, 1};
  Tensor squares =
      n.call("sum_pool", {rows * rows},
             {{"kernel", listAttribute(kernel)}, {"stride", listAttribute(stride)}, {"padding", listAttribute(pads)}});
  if (!squares) return Tensor();
  double beta = n.number("beta");
  Tensor base = reshape(squares, x.dims()) * (n.number("alpha") / static_cast<double>(size)) + n.number("bias");
  Tensor root = sqrt(base);
  Tensor divisor = beta == 0.75 ? root * sqrt(root) : beta == 0.5 ? root : beta == 1 ? base : pow(base, beta);
  return cast(y / divisor, x.dtype());
}

// Where all elements are 0, so is the result.
Results onnxLpNorm(OnnxNode& n) {
  Tensor x = n.arg(0), y = wide(x);
  int axis = n.axis(n.integer("axis"), x.rank());
  int64_t p = n.integer("p");
  if (axis < 0 || !n.require(p == 1 || p == 2, "'p' is 1 or 2")) return Tensor();
  Tensor norm = p == 1 ? sum(abs(y), axis, true) : sqrt(sum(y * y, axis, true));
  return cast(where(eq(norm, 0), 0.0, y / norm), x.dtype());
}

Results onnxMeanVariance(OnnxNode& n) {
  Tensor x = n.arg(0), y = wide(x);
  std::vector<int64_t> listed = n.integers("axes");
  if (!n.has("axes")) listed = {0, 2, 3};
  std::vector<int> axes = n.axes(listed, x.rank());
  if (n.b.failed()) return Tensor();
  Tensor distance = y - meanOf(y, axes);
  return cast(distance / (sqrt(meanOf(distance * distance, axes)) + 1e-9), x.dtype());
}

}  // namespace svod
