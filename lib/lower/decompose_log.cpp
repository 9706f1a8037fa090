// Log, Log2.
#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

// Results for 0, negative numbers, infinity and NaN.
Ex withSpecialCases(Ex x, Ex result) {
  result = where(x < x.inf(), result, x);
  return where(x <= 0, where(x < 0, x.nan(), x.num(-1) * x.inf()), result);
}

Ex logF32(LogParts p, Ex x) {
  Ex f = p.f, square = f * f;
  Ex tail = fma(square, f * poly(f, kLogF32), p.n * kLn2F32[1]);
  tail = fma(square, -0.5, tail);
  return withSpecialCases(x, fma(p.n, kLn2F32[0], f + tail));
}

// log(1 + f) = f - (half - s (half + r)) with s = f / (2 + f), half = f^2 / 2 and r = s^2 p(s^2): the large terms
// are exact, so the error of the division and of the polynomial hardly counts.
struct LogTailF64 {
  Ex half, correction;  // log(1 + f) = f - half + correction
};
LogTailF64 logTailF64(Ex f) {
  Ex s = f / (f + 2.0), square = s * s;
  Ex r = square * poly(square, kLogF64);
  Ex half = f * f * 0.5;
  return {half, s * (half + r)};
}

Ex logF64(LogParts p, Ex x) {
  LogTailF64 t = logTailF64(p.f);
  Ex low = fma(p.n, kLn2F64[1], t.correction);
  return withSpecialCases(x, fma(p.n, kLn2F64[0], p.f - (t.half - low)));
}

Ex log2F32(LogParts p, Ex x) {
  Ex f = p.f;
  Ex tail = f * fma(f, poly(f, kLog2F32), kLog2eF32[1]);
  return withSpecialCases(x, p.n + fma(f, kLog2eF32[0], tail));
}

// High parts of 27 and 26 bits make their product exact; everything below goes to `low`.
Ex log2F64(LogParts p, Ex x) {
  LogTailF64 t = logTailF64(p.f);
  Ex mask = bitcast(x, DType::U64).bits(~uint64_t{0x3ffffff});
  Ex high = bitcast(bitcast(p.f - t.half, DType::U64) & mask, DType::F64);
  Ex rest = ((p.f - high) - t.half) + t.correction;
  Ex product = high * kLog2eF64[0];
  Ex low = fma(rest + high, kLog2eF64[1], rest * kLog2eF64[0]);
  Ex sum = p.n + product;
  return withSpecialCases(x, sum + (((p.n - sum) + product) + low));
}

}  // namespace

Product exactProduct(Ex a, Ex b) {
  Ex p = a * b;
  if (a.e->options.fma) return {p, fma(a, b, -p)};
  const FloatLayout& l = layoutOf(a.dtype());  // halves of the mantissas have exact products
  uint64_t dropped = (uint64_t{1} << (l.fraction / 2 + 1)) - 1;
  auto top = [&](Ex x) { return bitcast(bitcast(x, l.uint) & ~bitcast(x, l.uint).bits(dropped), l.dtype); };
  Ex a1 = top(a), a2 = a - a1, b1 = top(b), b2 = b - b1;
  return {p, (((a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2};
}

LogParts logParts(Ex x) {
  const FloatLayout& l = layoutOf(x.dtype());
  Ex subnormal = x < std::ldexp(1.0, 1 - l.bias);
  Ex scaled = where(subnormal, x * std::ldexp(1.0, l.fraction + 1), x);
  Ex base = bitcast(x.num(std::sqrt(0.5)), l.sint);
  Ex n = (bitcast(scaled, l.sint) - base) >> l.fraction;
  Ex m = bitcast(bitcast(scaled, l.sint) - (n << l.fraction), l.dtype);
  Ex exponent = where(subnormal, n - (l.fraction + 1), n);
  return {cast(cast(exponent, DType::I32), l.dtype), m - 1.0};
}

UOp decomposeLog(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  LogParts p = logParts(x);
  bool natural = call.op == Op::Log;
  if (x.dtype() == DType::F32) return natural ? logF32(p, x) : log2F32(p, x);
  return natural ? logF64(p, x) : log2F64(p, x);
}

}  // namespace svod::detail
