// Constants and values made from nothing.
#include <cmath>

#include "onnx/ops/expectations.h"

namespace svod {

namespace {

template <class Number>
HostTensor vectorOf(DType dtype, const std::vector<Number>& values) {
  HostTensor t = HostTensor::zeros(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_integral_v<Number>) {
      t.set(static_cast<int64_t>(i), Scalar::ofInt(dtype, values[i]));
    } else {
      t.set(static_cast<int64_t>(i), Scalar::ofFloat(dtype, values[i]));
    }
  }
  return t;
}

Tensor scalarOf(OnnxNode& n, Scalar value) { return n.b.constant(value); }

}  // namespace

Results onnxConstant(OnnxNode& n) {
  if (n.has("value")) {
    std::optional<HostTensor> value = n.tensor("value");
    return value ? n.constantTensor(*value) : Tensor();
  }
  if (n.has("value_float")) return scalarOf(n, Scalar::ofFloat(DType::F32, n.number("value_float")));
  if (n.has("value_int")) return scalarOf(n, Scalar::ofInt(DType::I64, n.integer("value_int")));
  if (n.has("value_floats")) return n.constantTensor(vectorOf(DType::F32, n.numbers("value_floats")));
  if (n.has("value_ints")) return n.constantTensor(vectorOf(DType::I64, n.integers("value_ints")));
  if (n.has("sparse_value")) {
    std::optional<HostTensor> value = n.tensor("sparse_value");
    return value ? n.constantTensor(*value) : Tensor();
  }
  if (n.has("value_string") || n.has("value_strings"))
    return n.unsupported("a constant of strings", "a tensor of numbers");
  n.require(false, "a constant has a value");
  return Tensor();
}

Results onnxConstantOfShape(OnnxNode& n) {
  std::optional<Dims> declared = n.declaredFor(0);
  Dims dims = declared ? *declared : n.sizesOrLengths(0);
  if (declared) n.expect({0}, n.arg(0), dims);
  if (n.b.failed()) return Tensor();
  Tensor fill = n.b.constant(Scalar::ofFloat(DType::F32, 0));
  if (n.has("value")) {
    std::optional<HostTensor> value = n.tensor("value");
    if (!value || !n.require(value->numel() == 1, "the value has one element")) return Tensor();
    fill = n.b.constant(value->at(0));
  }
  return n.b.full(dims, fill);
}

Results onnxIdentity(OnnxNode& n) { return n.arg(0); }

namespace {

// The elements from operand 0 on, by operand 2; how many there are is known as a size.
Tensor countedRange(OnnxNode& n, Tensor count) {
  Tensor natural = max(cast(reshape(count, Dims()), DType::I64), 0);
  Dims all = n.withArgs({n.arg(0), natural}).sizesOrLengths(1);
  if (all.rank() != 1) return {};
  Dim size = larger(all[0], n.b.dim(0));
  return reshape(n.arg(0), Dims()) + cast(n.b.iota(size), n.arg(0).dtype()) * reshape(n.arg(2), Dims());
}

}  // namespace

// Integers may be sizes; the number of elements of a float range is computed as ONNX defines it.
Results onnxRange(OnnxNode& n) {
  DType dtype = n.arg(0).dtype();
  bool isKnown = n.isKnown(0) && n.isKnown(1) && n.isKnown(2);
  if (!isKnown && n.declared(0) && n.declared(0)->rank() == 1) {
    expectRange(n, (*n.declared(0))[0]);
    return n.arg(0) + cast(n.b.iota((*n.declared(0))[0]), dtype) * n.arg(2);
  }
  if (isFloat(dtype) && !isKnown) return countedRange(n, ceil((n.arg(1) - n.arg(0)) / n.arg(2)));
  if (isFloat(dtype)) {
    std::vector<double> start = n.numbers(0), limit = n.numbers(1), delta = n.numbers(2);
    if (n.b.failed() ||
        !n.require(start.size() == 1 && limit.size() == 1 && delta.size() == 1, "operands are scalars") ||
        !n.require(delta[0] != 0, "delta is not 0"))
      return Tensor();
    double count = std::max(0.0, std::ceil((limit[0] - start[0]) / delta[0]));
    if (!n.require(count < 1e12, "the range is finite")) return Tensor();
    Tensor steps = cast(n.b.iota(n.b.dim(static_cast<int64_t>(count))), dtype);
    return n.arg(0) + steps * n.arg(2);
  }
  if (!isKnown && n.isKnown(2)) return countedRange(n, -floordiv(n.arg(0) - n.arg(1), n.arg(2)));
  Dims step = n.sizes(2);
  if (step.rank() == 1 && !step[0].isConst()) {
    if (!n.require(step[0].min() > 0 || step[0].max() < 0, "delta is never 0")) return Tensor();
    return countedRange(n, -floordiv(n.arg(0) - n.arg(1), n.arg(2)));
  }
  if (n.b.failed()) return Tensor();
  Dims start = n.sizes(0), limit = n.sizes(1);
  std::vector<int64_t> delta = n.integers(2);
  if (n.b.failed() || !n.require(start.rank() == 1 && limit.rank() == 1 && delta.size() == 1, "operands are scalars") ||
      !n.require(delta[0] != 0, "delta is not 0"))
    return Tensor();
  Attributes attributes = {{"start", start[0]}, {"stop", limit[0]}, {"step", delta[0]}, {"dtype", dtype}};
  return n.call("arange", {}, attributes);
}

Results onnxEyeLike(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() == 2, "x is a matrix")) return Tensor();
  DType dtype = n.has("dtype") ? n.dtype("dtype") : x.dtype();
  if (dtype == DType::Void) return Tensor();
  return n.call("eye", {}, {{"n", x.dim(0)}, {"m", x.dim(1)}, {"k", n.integer("k")}, {"dtype", dtype}});
}

}  // namespace svod
