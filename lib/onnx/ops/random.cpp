// Random numbers and Dropout.
#include <bit>

#include "onnx/ops/common.h"

namespace svod {

namespace {

// Equal seeds give equal numbers; without a seed every node has numbers of its own. Every iteration of a loop has
// others.
Tensor keyOf(OnnxNode& n) {
  uint64_t key = n.randomKey();
  if (n.op.name == "Dropout" && n.has("seed")) key = static_cast<uint64_t>(n.integer("seed"));
  if (n.op.name != "Dropout" && n.has("seed")) key = std::bit_cast<uint64_t>(n.number("seed"));
  Tensor mixed = n.b.constant(Scalar::ofInt(DType::U64, static_cast<int64_t>(key)));
  for (const Dim& step : n.b.counters()) mixed = n.call("threefry", {cast(n.b.value(step), DType::U64), mixed});
  return mixed;
}

Tensor uniform(OnnxNode& n, const Dims& dims, DType dtype) {
  return n.call("rand", {keyOf(n)}, {{"shape", dims}, {"dtype", dtype}});
}

// What random numbers are computed in.
DType wideOf(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

Tensor trues(OnnxNode& n, const Tensor& x) { return n.b.full(x.dims(), n.b.constant(Scalar::ofInt(DType::Bool, 1))); }

}  // namespace

Results onnxRandom(OnnxNode& n) {
  Dims dims;
  if (n.has(0)) {
    dims = n.arg(0).dims();
  } else {
    for (int64_t d : n.integers("shape")) dims.add(n.b.dim(d));
  }
  DType dtype = n.has("dtype") ? n.dtype("dtype") : n.arg(0).dtype();
  if (dtype == DType::Void || !n.require(isFloat(dtype), "random numbers are floats")) return Tensor();
  DType wide = wideOf(dtype);
  if (n.op.name.starts_with("RandomNormal")) {
    Tensor normal = n.call("randn", {keyOf(n)}, {{"shape", dims}, {"dtype", wide}});
    return cast(normal * n.number("scale") + n.number("mean"), dtype);
  }
  double low = n.number("low"), high = n.number("high");
  return cast(uniform(n, dims, wide) * (high - low) + low, dtype);
}

// 1 with the probability that x states.
Results onnxBernoulli(OnnxNode& n) {
  Tensor x = n.arg(0);
  DType dtype = n.has("dtype") ? n.dtype("dtype") : x.dtype();
  if (dtype == DType::Void || !n.require(isFloat(x.dtype()), "probabilities are floats")) return Tensor();
  DType wide = wideOf(x.dtype());
  return cast(lt(uniform(n, x.dims(), wide), cast(x, wide)), dtype);
}

// x [batch, classes] are logarithms of probabilities that need not add up to 1.
Results onnxMultinomial(OnnxNode& n) {
  Tensor x = n.arg(0);
  DType dtype = n.dtype("dtype");
  int64_t count = n.integer("sample_size");
  if (dtype == DType::Void || !n.require(isFloat(x.dtype()) && x.rank() == 2, "x is [batch, classes] of floats") ||
      !n.require(count >= 1, "sample_size is positive") ||
      !n.require(dtype == DType::I32 || dtype == DType::I64, "samples are i32 or i64"))
    return Tensor();
  DType wide = wideOf(x.dtype());
  Tensor shares = n.call("cumsum", {n.call("softmax", {cast(x, wide)}, {{"axis", 1}})}, {{"axis", 1}});
  Tensor chance = uniform(n, {x.dim(0), n.b.dim(count)}, wide);
  Tensor isBelow = le(unsqueeze(contiguous(shares), 1), unsqueeze(chance, 2));  // [batch, samples, classes]
  Tensor last = cast(n.b.value(x.dim(1) - 1), DType::I64);
  return cast(min(sum(cast(isBelow, DType::I64), 2), last), dtype);
}

// Elements are dropped only in training mode, which opset 12 made an operand. The numbers that decide are the
// same in every run.
Results onnxDropout(OnnxNode& n) {
  Tensor x = n.arg(0), training = n.arg(2);
  if (n.opset < 7 && !n.flag("is_test")) return n.unsupported("dropout in training mode (is_test=0)", "is_test=1");
  bool isInference = !training;
  if (training && n.isKnown(2)) isInference = n.integers(2) == std::vector<int64_t>{0};
  if (isInference) {
    Tensor mask = n.wants(1) ? trues(n, x) : Tensor();
    return std::vector<Tensor>{x, mask && n.opset < 10 ? cast(mask, x.dtype()) : mask};
  }
  Tensor ratio = n.has(1) ? cast(n.arg(1), DType::F32) : cast(n.b.literal(0.5), DType::F32);
  Tensor chance = uniform(n, x.dims(), DType::F32);
  Tensor isKept = either(ge(chance, ratio), negated(cast(training, DType::Bool)));
  Tensor scaled = cast(x * cast(recip(1.0 - ratio), x.dtype()), x.dtype());
  Tensor dropped = where(isKept, scaled, 0);
  return std::vector<Tensor>{where(cast(training, DType::Bool), dropped, x), isKept};
}

}  // namespace svod
