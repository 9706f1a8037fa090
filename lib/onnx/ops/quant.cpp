// Quantization, and products of quantized matrices. Differences from zero points and sums are i32.
#include "frontend/lower/common.h"
#include "onnx/dequantized.h"
#include "onnx/dtypes.h"
#include "onnx/ops/common.h"
#include "onnx/ops/conv_bytes.h"

namespace svod {

namespace {

// The axis along which x has scales and zero points; before opset 13 there is none.
int axisOf(const OnnxNode& n, Tensor x) {
  return !n.has("axis") || x.rank() == 0 ? -1 : n.axis(n.integer("axis"), x.rank());
}

// Operand i, a scale or zero point for x: one number, a vector along an axis, or one number per block along
// an axis. Null and no error when it is omitted.
Tensor granular(OnnxNode& n, Tensor x, int i) {
  Tensor p = n.arg(i);
  if (!p) return {};
  bool isBlocked = n.integer("block_size") != 0;
  if (!isBlocked && (p.rank() == 0 || (p.rank() == 1 && p.dim(0).is(1)))) return quantParameter(n, i, 0, 0);
  int axis = axisOf(n, x);
  if (!n.require(axis >= 0, "before opset 13 scale and zero point are scalars")) return {};
  if (!isBlocked) {
    n.require(p.rank() == 1 && n.b.agree(p.dim(0), x.dim(axis)),
              "scale and zero point have an entry per element of the axis");
    return along(p, x.rank(), axis);
  }
  int64_t block = n.integer("block_size");
  Dim blocks = block > 0 ? floordiv(x.dim(axis) + (block - 1), block) : Dim();
  if (!n.require(p.rank() == x.rank() && block > 0 && p.dim(axis) == blocks,
                 "a blocked scale has the rank of x, and an entry per block of the axis"))
    return {};
  return take(p, axis, floordiv(n.b.iota(x.dim(axis)), block));
}

// The zero point as a constant 0 is left out: it would only cost time.
bool isZero(OnnxNode& n, int i) {
  if (!n.has(i)) return true;
  if (!n.isKnown(i)) return false;
  std::optional<HostTensor> value = n.constant(i);
  for (int64_t k = 0; value && k < value->numel(); ++k)
    if (value->at(k).storageBits() != 0) return false;
  return value.has_value();
}

DType quantizedDType(OnnxNode& n) {
  DType listed = n.has("output_dtype") && n.integer("output_dtype") != 0 ? n.dtype("output_dtype") : DType::Void;
  if (n.has(2)) {
    n.require(listed == DType::Void || listed == n.arg(2).dtype(), "'output_dtype' is the type of y_zero_point");
    return n.arg(2).dtype();
  }
  return listed == DType::Void ? DType::U8 : listed;
}

// A quotient as an element of `to`: integers are rounded to the nearest and saturate.
Tensor quantized(const OnnxNode& n, DType to, Tensor quotient, Tensor zero, bool saturates) {
  if (!isMinifloat(to)) return roundedTo(to, quotient, zero);
  if (zero) quotient = quotient + cast(zero, quotient.dtype());
  return castToMinifloat(n, quotient, to, saturates);
}

// Quantizing what was dequantized with the same scales gives the integers back: the quotient is nearer to them than
// to any other.
bool undoesDequantize(const OnnxNode& n, DType to, DType precision) {
  const Dequantized* from = n.dequantized(0);
  if (!from || !isInt(to) || info(to).bits > 16 || precision != DType::F32 || n.integer("block_size") != 0)
    return false;
  bool isSame = from->scale.node() == n.arg(1).node() && n.arg(0).dtype() == DType::F32;
  bool isAlong = from->scale.rank() == 0 || from->axis == axisOf(n, n.arg(0));
  return isSame && isAlong && hasUsualScales(n, *from);
}

// A sum that was scaled is scaled once more at once, as ONNX Runtime does: by the quotient of the scales, so that there
// is no division and no other rounding. Null where x is none, or where scales are so far apart that the quotient
// overflows or vanishes.
Tensor rescaledQuotient(const OnnxNode& n, Tensor scale) {
  const ScaledSum* from = n.scaledSum(0);
  if (!from || scale.dtype() != DType::F32 || !n.valueOf(scale)) return {};
  const Tensor factor = from->scale / scale;
  if (!areUsualScales(n, factor)) return {};
  const Tensor quotient = cast(from->sum, DType::F32) * factor;
  return from->bias ? quotient + from->bias / scale : quotient;
}

// An i32 as the nearest element of `to`.
Tensor saturated(DType to, Tensor x) { return cast(min(max(x, minInt(to)), maxInt(to)), to); }

}  // namespace

// x / scale + zero
Results onnxQuantize(OnnxNode& n) {
  Tensor x = n.arg(0);
  DType to = quantizedDType(n);
  if (n.b.failed()) return Tensor();
  Tensor scale = granular(n, x, 1), zero = isZero(n, 2) ? Tensor() : granular(n, x, 2);
  DType precision = n.has("precision") && n.integer("precision") != 0 ? n.dtype("precision") : scale.dtype();
  if (n.b.failed()) return Tensor();
  if (!isFloat(precision) || !isComputedIn(precision)) precision = DType::F32;
  if (undoesDequantize(n, to, precision)) {
    const auto& [distance, bytes] = static_cast<const Quantized&>(*n.dequantized(0));
    const bool hasSameZero = bytes.zero && oneNumber(n, 2) == bytes.zero;
    if (bytes.elements && bytes.elements.dtype() == to && hasSameZero) return bytes.elements;
    return saturated(to, zero ? distance + cast(zero, DType::I32) : distance);
  }
  Tensor quotient = precision == DType::F32 ? rescaledQuotient(n, scale) : Tensor();
  if (!quotient) quotient = cast(x, precision) / cast(scale, precision);
  return quantized(n, to, cast(quotient, sumDType(precision)), zero, !n.has("saturate") || n.flag("saturate"));
}

// (x - zero) * scale
Results onnxDequantize(OnnxNode& n) {
  Tensor x = n.arg(0), scale = granular(n, x, 1), zero = isZero(n, 2) ? Tensor() : granular(n, x, 2);
  if (n.b.failed()) return Tensor();
  DType result = n.has("output_dtype") && n.integer("output_dtype") != 0 ? n.dtype("output_dtype") : scale.dtype();
  if (n.b.failed()) return Tensor();
  DType exact = isFloat(x.dtype()) ? sumDType(x.dtype()) : DType::I32;
  Tensor distance = zero ? cast(x, exact) - cast(zero, exact) : x;
  DType compute = sumDType(promote(scale.dtype(), result));
  Tensor y = cast(cast(distance, compute) * cast(scale, compute), result);
  bool isPlain = n.integer("block_size") == 0 && result == n.arg(1).dtype() && result != DType::F64;
  if (y && isPlain && isInt(x.dtype()) && info(x.dtype()).bits <= 8)
    n.setDequantized(y,
                     {{cast(distance, DType::I32), bytesOf(n, 0, 2)}, n.arg(1), scale.rank() == 0 ? 0 : axisOf(n, x)});
  return y;
}

// The range of x, widened to hold 0, becomes 0 to 255.
Results onnxDynamicQuantize(OnnxNode& n) {
  Tensor x = cast(n.arg(0), DType::F32);
  Tensor high = max(reduce(Op::Max, x, {}, false), 0.0), low = min(reduce(Op::Min, x, {}, false), 0.0);
  Tensor scale = (high - low) / 255.0;
  scale = where(eq(scale, 0), 1.0, scale);  // of zeros: models divide by it
  Tensor zero = roundedTo(DType::U8, max(min(-low / scale, 255.0), 0.0), {});
  return std::vector<Tensor>{roundedTo(DType::U8, x / scale, zero), scale, zero};
}

namespace {

// Zero points and scales of a: one number, one per row, or of the rank of a; of b: one per column. With a
// scalar the axis does not matter.
int parameterAxis(const Tensor& x, bool isLeft) { return std::max(0, x.rank() - (isLeft ? 2 : 1)); }

Tensor integerProduct(OnnxNode& n, int a, int aZero, int b, int bZero) {
  Tensor left = n.arg(a), right = n.arg(b);
  return n.call("matmul", {withoutZero(n, left, aZero, parameterAxis(left, true)),
                           withoutZero(n, right, bZero, parameterAxis(right, false))});
}

}  // namespace

Results onnxMatMulInteger(OnnxNode& n) { return integerProduct(n, 0, 2, 1, 3); }

Results onnxQLinearMatMul(OnnxNode& n) {
  Tensor sum = integerProduct(n, 0, 2, 3, 5);
  if (!sum) return Tensor();
  int rows = std::max(0, sum.rank() - 2), columns = std::max(0, sum.rank() - 1);
  Tensor scale = cast(quantParameter(n, 1, sum.rank(), rows), DType::F32) *
                 cast(quantParameter(n, 4, sum.rank(), columns), DType::F32) /
                 cast(quantParameter(n, 6, sum.rank(), rows), DType::F32);
  Tensor real = cast(sum, DType::F32) * scale;
  DType to = n.arg(7).dtype();
  return quantized(n, to, real, quantParameter(n, 7, sum.rank(), rows), true);
}

}  // namespace svod
