// Elementwise ops.
#include <algorithm>

#include "onnx/dtypes.h"
#include "onnx/node.h"

namespace svod {

namespace {

// The axes of b lie at `axis` of a, instead of at the right.
Tensor alignedAt(OnnxNode& n, Tensor a, Tensor b, int64_t axis) {
  int from = axis == a.rank() ? a.rank() : n.axis(axis, a.rank());
  if (from < 0) return {};
  Dims dims = b.dims();
  if (!n.require(from + dims.rank() <= a.rank(), "b has no more axes than a behind 'axis'")) return {};
  while (dims.rank() < a.rank() - from) dims.add(n.b.dim(1));
  return reshape(b, dims);
}

Tensor quotient(OnnxNode& n, Tensor a, Tensor b) {
  return n.call(isFloat(a.dtype()) ? "div" : "cdiv", {a, b});
}

// Saturation of 8-bit floats also limits infinities, which the op cast leaves alone.
Tensor converted(OnnxNode& n, DType to) {
  Tensor x = n.arg(0);
  if (isFloat8(to)) {
    if (!n.flag("saturate")) return n.unsupported("a cast to float8 with saturate=0", "saturate=1");
    if (isFloat(x.dtype()))
      x = n.call("clip", {cast(x, sumDType(x.dtype()))}, {{"min", -maxFinite(to)}, {"max", maxFinite(to)}});
  }
  return n.call("cast", {x}, {{"dtype", to}});
}

}  // namespace

// Opsets 1 to 6: b stretches only with broadcast=1, from `axis` on or at the right.
Results onnxLegacyBinary(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  if (!n.flag("broadcast")) {
    if (!n.require(a.dims() == b.dims(), "shapes are equal without broadcast=1")) return Tensor();
  } else if (n.has("axis")) {
    b = alignedAt(n, a, b, n.integer("axis"));
  }
  struct Row {
    std::string_view name, graphOp;
  };
  constexpr Row kRows[] = {{"Add", "add"}, {"Sub", "sub"},    {"Mul", "mul"}, {"Equal", "eq"},
                           {"Less", "lt"}, {"Greater", "gt"}, {"And", "and"}, {"Or", "or"},
                           {"Xor", "xor"}, {"Pow", "pow"}};
  if (!b) return Tensor();
  for (const Row& row : kRows)
    if (row.name == n.op.name) return n.call(row.graphOp, {a, b});
  return quotient(n, a, b);
}

Results onnxDiv(OnnxNode& n) { return quotient(n, n.arg(0), n.arg(1)); }

Results onnxCast(OnnxNode& n) {
  DType to = n.dtype("to");
  return to == DType::Void ? Tensor() : converted(n, to);
}

// Opsets 1 to 5 name the type, in capitals.
Results onnxCastByName(OnnxNode& n) {
  std::string name = n.word("to");
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const OnnxDType& row : allOnnxDTypes())
    if (row.name == name && row.dtype != DType::Void)
      return n.call("cast", {n.arg(0)}, {{"dtype", row.dtype}});
  return n.unsupported("a cast to '" + n.word("to") + "'", "an element type of numbers");
}

Results onnxCastLike(OnnxNode& n) { return converted(n, n.arg(1).dtype()); }

}  // namespace svod
