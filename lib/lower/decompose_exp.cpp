// Exp, Exp2. n = round(x / ln 2) is added to the exponent in two halves, which keeps subnormal results exact.
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

}  // namespace svod::detail
