// Elementwise ops.
#include <limits>

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

Tensor quotient(OnnxNode& n, Tensor a, Tensor b) { return n.call(isFloat(a.dtype()) ? "div" : "cdiv", {a, b}); }

// The number in operand i when it is known and stretches to any shape like a literal.
std::optional<double> knownNumber(OnnxNode& n, int i) {
  Tensor x = n.arg(i);
  for (const Dim& d : x.dims())
    if (!d.is(1)) return std::nullopt;
  if (x.rank() > n.arg(0).rank() || !n.isKnown(i)) return std::nullopt;
  std::vector<double> value = n.numbers(i);
  return value.size() == 1 ? std::optional(value[0]) : std::nullopt;
}

// The result has the type of the base. Powers of integers stay exact as long as the exponents are integers.
Tensor power(OnnxNode& n, Tensor a, Tensor exponent) {
  DType dtype = a.dtype();
  std::optional<double> known = knownNumber(n, 1);
  if (known == 2) return a * a;
  if (!isFloat(dtype) && isFloat(exponent.dtype()))
    return cast(n.call("pow", {cast(a, DType::F64), cast(exponent, DType::F64)}), dtype);
  if (!isFloat(dtype) && known && *known >= 0 && *known <= 64)
    return n.call("pow", {a, n.b.literal(static_cast<int64_t>(*known))});
  return cast(n.call("pow", {a, exponent}), dtype);
}

Tensor allOf(OnnxNode& n, bool value) {
  return n.b.full(n.arg(0).dims(), n.b.constant(Scalar::ofInt(DType::Bool, value)));
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
  constexpr Row kRows[] = {{"Add", "add"},    {"Sub", "sub"}, {"Mul", "mul"}, {"Equal", "eq"}, {"Less", "lt"},
                           {"Greater", "gt"}, {"And", "and"}, {"Or", "or"},   {"Xor", "xor"}};
  if (!b) return Tensor();
  for (const Row& row : kRows)
    if (row.name == n.op.name) return n.call(row.graphOp, {a, b});
  return n.op.name == "Pow" ? power(n, a, b) : quotient(n, a, b);
}

Results onnxDiv(OnnxNode& n) { return quotient(n, n.arg(0), n.arg(1)); }
Results onnxPow(OnnxNode& n) { return power(n, n.arg(0), n.arg(1)); }

// fmod=0: integers, sign of b. fmod=1: sign of a, also of floats.
Results onnxMod(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  if (isFloat(a.dtype()) && !n.require(n.flag("fmod"), "floats need fmod=1")) return Tensor();
  return n.call(n.flag("fmod") ? "cmod" : "floormod", {a, b});
}

Results onnxBitShift(OnnxNode& n) {
  std::string direction = n.word("direction");
  if (!n.require(direction == "LEFT" || direction == "RIGHT", "direction is LEFT or RIGHT")) return Tensor();
  return n.call(direction == "LEFT" ? "shl" : "shr", {n.arg(0), n.arg(1)});
}

Results onnxIsInf(OnnxNode& n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Tensor x = n.arg(0);
  bool negative = n.flag("detect_negative"), positive = n.flag("detect_positive");
  if (negative && positive) return n.call("isinf", {x});
  if ((!negative && !positive) || !floatFormat(x.dtype()).hasInfinity()) return allOf(n, false);
  return eq(x, positive ? kInfinity : -kInfinity);
}

// Max, Min, Sum and Mean of any number of operands.
Results onnxVariadic(OnnxNode& n) {
  struct Row {
    std::string_view name, graphOp;
  };
  constexpr Row kRows[] = {{"Max", "max"}, {"Min", "min"}, {"Sum", "add"}, {"Mean", "add"}};
  std::string_view graphOp;
  for (const Row& row : kRows)
    if (row.name == n.op.name) graphOp = row.graphOp;
  Tensor result = n.arg(0);
  for (int i = 1; i < n.count(); ++i) result = n.call(graphOp, {result, n.arg(i)});
  if (n.op.name == "Mean" && n.count() > 1) result = result / static_cast<double>(n.count());
  return result;
}

// Bounds are attributes, or operands from opset 11 on. The upper one wins.
Results onnxClip(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (n.opset < 11) {
    Attributes bounds;
    for (std::string_view name : {"min", "max"})
      if (n.has(name)) bounds.emplace_back(std::string(name), n.number(name));
    return n.call("clip", {x}, bounds);
  }
  if (n.has(1)) x = max(x, n.arg(1));
  if (n.has(2)) x = min(x, n.arg(2));
  return x;
}

}  // namespace svod
