// Conversions of element types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/dtypes.h"
#include "onnx/node.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

// A power of two as ONNX rounds to it; infinities give NaN, and so does what rounds beyond unless that saturates.
Tensor castToPower(const OnnxNode& n, Tensor x, bool saturates, const std::string& mode) {
  constexpr int64_t kExponent = 0x7f800000, kFraction = 0x7fffff, kSmallest = 0x400000;  // in bits of f32
  if (!n.require(mode == "up" || mode == "down" || mode == "nearest", "'round_mode' is up, down or nearest")) return {};
  x = abs(cast(x, DType::F32));
  Tensor bits = bitcast(x, DType::U32), rounded = bits;  // the op cast rounds to the nearest power
  if (mode == "up") rounded = where(le(bits, kSmallest), bits, both(bits + kFraction, kExponent));
  if (mode == "down") rounded = both(bits, kExponent);
  int64_t firstNan = kExponent;
  if (!saturates && mode == "up") firstNan = 0x7f000001;
  if (!saturates && mode == "nearest") firstNan = 0x7f400000;
  Tensor power = bitcast(rounded, DType::F32);
  return cast(where(ge(bits, firstNan), std::numeric_limits<double>::quiet_NaN(), power), DType::F8E8M0);
}

// Without saturation what rounds beyond the largest value becomes infinity, or NaN in a type without one.
Tensor castUnsaturated(Tensor x, DType to) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const FloatFormat format = floatFormat(to);
  // Halfway to the value after the largest; ties go to the even one.
  const int exponent = static_cast<int>(format.largest >> format.fractionBits) - format.bias;
  const double halfway = maxFinite(to) + std::ldexp(0.5, exponent - format.fractionBits);
  Tensor magnitude = abs(x);
  Tensor isBeyond = format.largest % 2 == 0 ? gt(magnitude, halfway) : ge(magnitude, halfway);
  if (!format.hasInfinity()) return cast(where(isBeyond, std::numeric_limits<double>::quiet_NaN(), x), to);
  return cast(where(isBeyond, where(lt(x, 0), -kInfinity, kInfinity), x), to);
}

Tensor converted(OnnxNode& n, DType to) {
  Tensor x = n.arg(0);
  if (x.dtype() == to) return x;
  if (to == DType::F8E8M0) return castToPower(n, x, n.flag("saturate"), n.word("round_mode"));
  if (isMinifloat(to)) return castToMinifloat(n, x, to, n.flag("saturate"));
  // What an integer of 2 or 4 bits cannot hold wraps around, also from floats.
  if (isPacked(to) && isFloat(x.dtype())) x = cast(x, DType::I32);
  return n.call("cast", {x}, {{"dtype", to}});
}

}  // namespace

Tensor castToMinifloat(const OnnxNode& n, Tensor x, DType to, bool saturates) {
  x = cast(x, isFloat(x.dtype()) ? sumDType(x.dtype()) : DType::F32);
  if (!saturates && info(to).bits == 8) return castUnsaturated(x, to);
  // The op cast leaves infinities alone where the type has them.
  if (floatFormat(to).hasInfinity()) x = n.call("clip", {x}, {{"min", -maxFinite(to)}, {"max", maxFinite(to)}});
  return n.call("cast", {x}, {{"dtype", to}});
}

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
    if (row.name == name && row.dtype != DType::Void) return n.call("cast", {n.arg(0)}, {{"dtype", row.dtype}});
  return n.unsupported("a cast to '" + n.word("to") + "'", "an element type of numbers");
}

Results onnxCastLike(OnnxNode& n) { return converted(n, n.arg(1).dtype()); }

Results onnxBitCast(OnnxNode& n) {
  DType to = n.dtype("to"), from = n.arg(0).dtype();
  if (to == DType::Void) return Tensor();
  if (!n.require(memoryBits(to) == memoryBits(from), "element types have the same size")) return Tensor();
  if (to == from) return n.arg(0);
  if (to == DType::Bool) return cast(n.call("bitcast", {n.arg(0)}, {{"dtype", DType::U8}}), DType::Bool);
  Tensor x = from == DType::Bool ? cast(n.arg(0), DType::U8) : n.arg(0);
  return n.call("bitcast", {x}, {{"dtype", to}});
}

}  // namespace svod
