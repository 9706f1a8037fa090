// Activation functions that are not ops of graph files.
#include "onnx/ops/common.h"

namespace svod {

// Opsets 1 to 6: one slope, or one per channel.
Results onnxLegacyPRelu(OnnxNode& n) {
  Tensor x = n.arg(0), slope = n.arg(1);
  if (slope.rank() == 1 && x.rank() > 1 && !slope.dim(0).is(1))
    for (int i = 2; i < x.rank(); ++i) slope = unsqueeze(slope, -1);
  return n.call("prelu", {x, slope});
}

Results onnxSelu(OnnxNode& n) { return n.call("elu", {n.arg(0)}, {{"alpha", n.number("alpha")}}) * n.number("gamma"); }

Results onnxSwiGlu(OnnxNode& n) { return n.call("quick_gelu", {n.arg(0)}, {{"alpha", n.number("alpha")}}) * n.arg(1); }

// Integers are compared and moved as f64, which holds those of 32 bits.
Results onnxShrink(OnnxNode& n) {
  DType dtype = n.arg(0).dtype();
  Tensor x = isFloat(dtype) ? n.arg(0) : cast(n.arg(0), DType::F64);
  double bias = n.number("bias"), lambda = n.number("lambd");
  return cast(where(lt(x, -lambda), x + bias, where(gt(x, lambda), x - bias, 0)), dtype);
}

namespace {

// 1 at the first largest element along an axis, else 0.
Tensor hardmax(OnnxNode& n, Tensor x, int axis) {
  if (x.dim(axis).is(0)) return x;
  Tensor first = n.call("argmax", {x}, {{"axis", axis}, {"keepdims", true}});
  Tensor position = cast(n.b.iota(x.dim(axis)), DType::I64);
  return cast(eq(along(position, x.rank(), axis), first), x.dtype());
}

}  // namespace

Results onnxHardmax(OnnxNode& n) {
  int axis = n.axis(n.integer("axis"), n.arg(0).rank());
  return axis < 0 ? Tensor() : hardmax(n, n.arg(0), axis);
}

// Opsets 1 to 12 see x as a matrix: the axes before `axis`, and the others.
Results onnxLegacyHardmax(OnnxNode& n) {
  Tensor x = n.arg(0), rows = n.call("flatten", {x}, {{"axis", n.integer("axis")}});
  return rows ? reshape(hardmax(n, rows, 1), x.dims()) : Tensor();
}

}  // namespace svod
