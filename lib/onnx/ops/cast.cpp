// Conversions of element types.
#include <algorithm>
#include <limits>

#include "onnx/dtypes.h"
#include "onnx/node.h"

namespace svod {

namespace {

// Without saturation what rounds beyond the largest value becomes infinity, or NaN in a type without one.
Tensor castUnsaturated(Tensor x, DType to) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // Halfway to the value after the largest; ties go to the even one, which for e4m3 is the largest.
  Tensor magnitude = abs(x);
  bool hasInfinity = to != DType::F8E4M3;
  Tensor isBeyond = hasInfinity ? ge(magnitude, 61440.0) : gt(magnitude, 464.0);
  Tensor beyond = hasInfinity ? where(lt(x, 0), -kInfinity, kInfinity) : x * 0 + kNan;
  return cast(where(isBeyond, cast(beyond, x.dtype()), x), to);
}

// Saturation of 8-bit floats also limits infinities, which the op cast leaves alone.
Tensor converted(OnnxNode& n, DType to) {
  Tensor x = n.arg(0);
  if (isFloat8(to) && x.dtype() != to) {
    x = cast(x, isFloat(x.dtype()) ? sumDType(x.dtype()) : DType::F32);
    if (!n.flag("saturate")) return castUnsaturated(x, to);
    x = n.call("clip", {x}, {{"min", -maxFinite(to)}, {"max", maxFinite(to)}});
  }
  return n.call("cast", {x}, {{"dtype", to}});
}

}  // namespace

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

Results onnxBitCast(OnnxNode& n) {
  DType to = n.dtype("to"), from = n.arg(0).dtype();
  if (to == DType::Void) return Tensor();
  if (!n.require(byteSize(to) == byteSize(from), "element types have the same size")) return Tensor();
  if (to == from) return n.arg(0);
  if (to == DType::Bool) return cast(n.call("bitcast", {n.arg(0)}, {{"dtype", DType::U8}}), DType::Bool);
  Tensor x = from == DType::Bool ? cast(n.arg(0), DType::U8) : n.arg(0);
  return n.call("bitcast", {x}, {{"dtype", to}});
}

}  // namespace svod
