// Exp, Exp2, Tanh, Erf. n = round(x / ln 2) is added to the exponent in two halves, which keeps subnormal results exact.
#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

struct ExpTable {
  const double *log2e, *ln2;
  double lowest, highest;          // beyond these e^x is 0 or infinity, whatever the rounding
  double lowest2, highest2;
  std::span<const double> exp, exp2;
};
constexpr ExpTable kF32{kLog2eF32, kLn2F32, -104.5, 89, -151, 129, kExpF32, kExp2F32};
constexpr ExpTable kF64{kLog2eF64, kLn2F64, -746, 710, -1076, 1025, kExpF64, kExp2F64};

const ExpTable& tableOf(DType d) { return d == DType::F32 ? kF32 : kF64; }

Ex clamp(Ex x, double low, double high) {  // NaN stays
  x = where(x < low, low, x);
  return where(high < x, high, x);
}

}  // namespace

Ex scaleByPowerOfTwo(Ex x, Ex n) {
  Ex half = n >> 1;
  return (x * powerOfTwo(half, x.dtype())) * powerOfTwo(n - half, x.dtype());
}

ExpParts expParts(Ex x) {
  const ExpTable& t = tableOf(x.dtype());
  Rounded n = roundToInt(fma(x, t.log2e[0], layoutOf(x.dtype()).roundMagic));
  Ex high = fma(n.value, -t.ln2[0], x);
  Ex r = fma(n.value, -t.ln2[1], high);
  Ex tail = fma(r * r, poly(r, t.exp), r);
  return {n.integer, tail};
}

UOp decomposeExp(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  const ExpTable& t = tableOf(x.dtype());
  if (call.op == Op::Exp) {
    ExpParts parts = expParts(clamp(x, t.lowest, t.highest));
    return scaleByPowerOfTwo(parts.tail + 1.0, parts.n);
  }
  x = clamp(x, t.lowest2, t.highest2);
  Rounded n = roundToInt(x + layoutOf(x.dtype()).roundMagic);
  Ex r = x - n.value;
  return scaleByPowerOfTwo(fma(r, poly(r, t.exp2), 1.0), n.integer);
}

// tanh x = 1 - 2 / (e^2x + 1) away from 0, where that would cancel.
UOp decomposeTanh(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  bool single = x.dtype() == DType::F32;
  Ex magnitude = abs(x), square = x * x;
  Ex small = fma(magnitude * square, single ? poly(square, kTanhF32) : poly(square, kTanhF64), magnitude);
  double enough = single ? 10 : 20;  // tanh rounds to 1
  ExpParts parts = expParts(where(enough < magnitude, enough, magnitude) * 2.0);
  Ex scale = powerOfTwo(parts.n, x.dtype());
  Ex large = 1.0 - 2.0 / (fma(parts.tail, scale, scale) + 1.0);
  return copySign(where(magnitude < 0.625, small, large), x);
}

// erf x = 1 - e^p(x) away from 0.
UOp decomposeErf(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  bool single = x.dtype() == DType::F32;
  Ex magnitude = abs(x), square = x * x;
  Ex small = fma(magnitude, single ? poly(square, kErfF32) : poly(square, kErfF64), magnitude);
  double enough = single ? 4 : 6;  // erf rounds to 1
  Ex clamped = where(enough < magnitude, enough, magnitude);
  ExpParts parts = expParts(single ? poly(clamped, kErfcF32) : poly(clamped, kErfcF64));
  Ex scale = powerOfTwo(parts.n, x.dtype());
  Ex large = 1.0 - fma(parts.tail, scale, scale);
  return copySign(where(magnitude < 0.9375, small, large), x);
}

}  // namespace svod::detail
