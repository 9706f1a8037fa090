// Ops on quantized values: the sum or product of integers stays one, everything else is computed on f32 between a
// dequantization and a quantization.
#include "frontend/lower/common.h"
#include "onnx/ops/channels.h"
#include "onnx/ops/common.h"

namespace svod {

Results onnxMaxPool(OnnxNode& n);
Results onnxAveragePool(OnnxNode& n);
Results onnxQLinearConv(OnnxNode& n);

namespace {

// Operand x with the scale behind it and the zero point behind that.
Tensor real(const OnnxNode& n, int x) {
  Tensor scale = quantParameter(n, x + 1, 0, 0);
  return cast(withoutZero(n, n.arg(x), x + 2, 0), DType::F32) * cast(scale, DType::F32);
}

// x in the element type of `like`, by the scale at operand `scale` and the zero point behind it.
Tensor requantized(const OnnxNode& n, Tensor x, int scale, DType dtype) {
  if (!x) return {};
  return roundedTo(dtype, x / cast(quantParameter(n, scale, 0, 0), DType::F32), quantParameter(n, scale + 1, 0, 0));
}

Tensor poolOf(const OnnxNode& n, Tensor x, Results (*pool)(OnnxNode&)) {
  OnnxNode inner = n.withArgs({x});
  Results y = pool(inner);
  return y.empty() ? Tensor() : y[0];
}

// --- What an op computes of real numbers

Tensor leakyRelu(const OnnxNode& n, Tensor x) { return n.call("leaky_relu", {x}, {{"alpha", n.number("alpha")}}); }
Tensor sigmoid(const OnnxNode& n, Tensor x) { return n.call("sigmoid", {x}); }

// Before opset 13 x is a matrix: the axes before `axis`, and the others.
Tensor softmax(const OnnxNode& n, Tensor x) {
  if (n.integer("opset") >= 13) return n.call("softmax", {x}, {{"axis", n.integer("axis")}});
  int axis = n.axis(n.integer("axis"), x.rank());
  Tensor flat = n.call("flatten", {x}, {{"axis", axis}});
  return flat ? reshape(n.call("softmax", {flat}, {{"axis", 1}}), x.dims()) : Tensor();
}

Tensor globalAverage(const OnnxNode& n, Tensor x) {
  return meanOf(x, n.flag("channels_last") ? axesFrom(1, x.rank() - 1) : axesFrom(2, x.rank()));
}

Tensor average(const OnnxNode& n, Tensor x) {
  bool isLast = n.flag("channels_last");
  Tensor y = poolOf(n, isLast ? channelsSecond(x) : x, onnxAveragePool);
  return isLast ? channelsLast(y) : y;
}

Tensor reducedMean(const OnnxNode& n, Tensor x) {
  std::vector<int> axes = n.axes(n.integers("axes"), x.rank());
  if (n.b.failed()) return {};
  return n.call("mean", {x}, {{"axes", listAttribute(axes)}, {"keepdims", n.flag("keepdims")}});
}

struct Unary {
  std::string_view op;
  Tensor (*of)(const OnnxNode& n, Tensor x);
};
constexpr Unary kUnaries[] = {
    {"com.microsoft::QLinearAveragePool", average}, {"com.microsoft::QLinearGlobalAveragePool", globalAverage},
    {"com.microsoft::QLinearLeakyRelu", leakyRelu}, {"com.microsoft::QLinearReduceMean", reducedMean},
    {"com.microsoft::QLinearSigmoid", sigmoid},     {"com.microsoft::QLinearSoftmax", softmax}};

}  // namespace

Results onnxQLinearUnary(OnnxNode& n) {
  Tensor x = real(n, 0);
  if (!x) return Tensor();
  for (const Unary& u : kUnaries)
    if (u.op == n.op.name) return requantized(n, u.of(n, x), 3, n.arg(0).dtype());
  return n.unsupported("the op", "another one");
}

Results onnxQLinearBinary(OnnxNode& n) {
  bool isSum = n.op.name == "com.microsoft::QLinearAdd";
  Tensor a = real(n, 0), b = real(n, 3);
  return requantized(n, isSum ? a + b : a * b, 6, n.arg(0).dtype());
}

// Operands come in threes: a value, its scale and its zero point.
Results onnxQLinearConcat(OnnxNode& n) {
  if (!n.require((n.count() - 2) % 3 == 0, "every value comes with a scale and a zero point")) return Tensor();
  std::vector<Tensor> parts;
  for (int i = 2; i < n.count(); i += 3) {
    bool isSame = n.arg(i + 1).node() == n.arg(0).node() && n.arg(i + 2).node() == n.arg(1).node();
    parts.push_back(isSame ? n.arg(i) : requantized(n, real(n, i), 0, n.arg(1).dtype()));
  }
  return n.call("concat", parts, {{"axis", n.integer("axis")}});
}

Results onnxQLinearWhere(OnnxNode& n) {
  return requantized(n, where(n.arg(0), real(n, 1), real(n, 4)), 7, n.arg(1).dtype());
}

Results onnxQLinearNhwcConv(OnnxNode& n) {
  if (!n.flag("channels_last")) return onnxQLinearConv(n);
  std::vector<Tensor> operands(n.args().begin(), n.args().end());
  operands[0] = channelsSecond(operands[0]);
  OnnxNode inner = n.withArgs(operands);
  Results y = onnxQLinearConv(inner);
  return y.empty() ? Tensor() : channelsLast(y[0]);
}

Results onnxNhwcMaxPool(OnnxNode& n) { return channelsLast(poolOf(n, channelsSecond(n.arg(0)), onnxMaxPool)); }

// c is an i32 in steps of a_scale * b_scale * alpha; without y_scale the result is f32.
Results onnxQGemm(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(3);
  if (!n.require(a.rank() == 2 && b.rank() == 2, "a and b are matrices")) return Tensor();
  const int column = n.flag("transB") ? 0 : 1;
  Tensor left = withoutZero(n, a, 2, 0), right = withoutZero(n, b, 5, column);
  if (n.flag("transA")) left = n.call("transpose", {left});
  if (n.flag("transB")) right = n.call("transpose", {right});
  Tensor sum = n.call("matmul", {left, right});
  if (n.has(6)) sum = sum + n.arg(6);
  if (!sum) return Tensor();
  Tensor scale = cast(quantParameter(n, 1, 2, 1), DType::F32) * cast(quantParameter(n, 4, 2, 1), DType::F32);
  Tensor y = cast(sum, DType::F32) * (scale * n.number("alpha"));
  return n.has(7) ? requantized(n, y, 7, n.has(8) ? n.arg(8).dtype() : a.dtype()) : y;
}

Results onnxMulInteger(OnnxNode& n) { return withoutZero(n, n.arg(0), 1, 0) * withoutZero(n, n.arg(2), 3, 0); }

namespace {

// The sum of products, an i32, by its scale, plus a bias.
Tensor scaledSum(const OnnxNode& n, Tensor sum, Tensor scale, int bias) {
  Tensor y = cast(sum, DType::F32) * scale;
  return n.has(bias) ? y + n.arg(bias) : y;
}

int lastAxis(const Tensor& x) { return std::max(0, x.rank() - 1); }

}  // namespace

Results onnxMatMulIntegerToFloat(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  Tensor sum = n.call("matmul", {withoutZero(n, a, 4, lastAxis(a)), withoutZero(n, b, 5, lastAxis(b))});
  if (!sum) return Tensor();
  Tensor scale = cast(quantParameter(n, 2, sum.rank(), lastAxis(sum)), DType::F32) *
                 cast(quantParameter(n, 3, sum.rank(), lastAxis(sum)), DType::F32);
  return scaledSum(n, sum, scale, 6);
}

Results onnxDynamicQuantize(OnnxNode& n);
// a is quantized by its own range.
Results onnxDynamicQuantizeMatMul(OnnxNode& n) {
  Results q = onnxDynamicQuantize(n);
  if (n.b.failed()) return Tensor();
  Tensor b = n.arg(1), left = cast(q[0], DType::I32) - cast(q[2], DType::I32);
  Tensor sum = n.call("matmul", {left, withoutZero(n, b, 3, lastAxis(b))});
  if (!sum) return Tensor();
  return scaledSum(n, sum, q[1] * cast(quantParameter(n, 2, sum.rank(), lastAxis(sum)), DType::F32), 4);
}

}  // namespace svod
