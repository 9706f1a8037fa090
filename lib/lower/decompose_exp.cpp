// Exp, Exp2, Tanh, Erf, and products with powers of two, which keep subnormal results exact.
#include "lower/bound_exponents.h"
#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

struct ExpTable {
  const double *log2e, *ln2;
  double lowest, highest;  // beyond these e^x is 0 or infinity, whatever the rounding
  double lowest2, highest2;
  double farBelow;  // 0 without a subnormal on the way, for both, where one instruction scales
  std::span<const double> exp, exp2;
};
constexpr ExpTable kF32{kLog2eF32, kLn2F32, -104.5, 89, -151, 129, -700, kExpF32, kExp2F32};
constexpr ExpTable kF64{kLog2eF64, kLn2F64, -746, 710, -1076, 1025, -5000, kExpF64, kExp2F64};

const ExpTable& tableOf(DType d) { return d == DType::F32 ? kF32 : kF64; }

}  // namespace

PowerOfTwo factorsOf(const Rounded& n, Ex isBelow) {
  const FloatLayout& l = layoutOf(n.value.dtype());
  const int half = (l.bias + 1) / 2;
  Ex biased = n.low + where(isBelow, l.bias + half, n.low.num(l.bias - half));
  return {bitcast(biased << l.fraction, l.dtype),
          where(isBelow, std::ldexp(1, -half), n.value.num(std::ldexp(1, half)))};
}

Ex scaleByPowerOfTwo(Ex x, const Rounded& n, Ex isBelow) {
  if (x.e->options.nativeScaleb) return bin(Op::Scaleb, x, n.value);
  const PowerOfTwo power = factorsOf(n, isBelow);
  return (x * power.first) * power.second;
}

// What is beyond one power of two is multiplied before, in steps that leave a factor small enough for the last product
// to be the one that rounds: where an earlier one is inexact, the result is 0 anyway.
UOp decomposeScaleb(Emitter& e, const Call& call) {
  if (e.options.nativeScaleb) return {};
  Ex x{&e, call.src[0]}, power{&e, call.src[1]};
  const FloatLayout& l = layoutOf(x.dtype());
  const double most = 2.0 * (l.bias + l.fraction);  // takes the smallest number beyond the largest
  Ex n = cast(cast(clamp(un(Op::Floor, power), -most, most), DType::I32), l.sint);
  Ex scaled = x;
  for (int step = 0; step < 2; ++step) {
    Ex part = where(n < 1 - l.bias, l.fraction + 2 - l.bias, where(n.num(l.bias) < n, l.bias, n.num(0)));
    scaled = scaled * powerOfTwo(part, x.dtype());
    n = n - part;
  }
  scaled = scaled * powerOfTwo(n, x.dtype());
  return where(power == power, scaled, x.nan());
}

ExpParts expParts(Ex x) {
  const ExpTable& t = tableOf(x.dtype());
  Rounded n = roundToInt(fma(x, t.log2e[0], layoutOf(x.dtype()).roundMagic));
  Ex high = fma(n.value, -t.ln2[0], x);
  Ex r = fma(n.value, -t.ln2[1], high);
  Ex tail = fma(r * r, poly(r, t.exp), r);
  return {n, tail};
}

namespace {

// The sign of x says what that of the rounded number does, at no cost.
Ex isNegative(Ex x) { return bitcast(x, layoutOf(x.dtype()).sint) < 0; }

Ex expWithin(Ex x, Ex isBelow) {
  ExpParts parts = expParts(x);
  if (x.e->options.nativeScaleb) return bin(Op::Scaleb, parts.tail + 1.0, parts.n.value);
  const PowerOfTwo power = factorsOf(parts.n, isBelow);
  return fma(parts.tail, power.first, power.first) * power.second;
}

Ex exp2Within(Ex x, Ex isBelow) {
  Rounded n = roundToInt(x + layoutOf(x.dtype()).roundMagic);
  Ex r = x - n.value;
  return scaleByPowerOfTwo(fma(r, poly(r, tableOf(x.dtype()).exp2), 1.0), n, isBelow);
}

}  // namespace

// A product that is subnormal, or rounds to 0 from there, takes processors 50 times as long, and masked rows are full
// of exponents far below.
UOp decomposeExp(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  const ExpTable& t = tableOf(x.dtype());
  const UOp above = exponentAbove(call.src[0]);
  const bool isExp = call.op == Op::Exp, isLow = above || isNotAboveZero(call.src[0]);
  if (x.dtype() == DType::F32 && e.mayApproximate("ex2_approx")) return approximateExp(x, !isExp);
  const auto within = [&](Ex bounded) {
    Ex isBelow = isLow ? Ex{&e, e.graph.boolean(true)} : isNegative(bounded);
    return isExp ? expWithin(bounded, isBelow) : exp2Within(bounded, isBelow);
  };
  const double lowest = isExp ? t.lowest : t.lowest2, highest = isExp ? t.highest : t.highest2;
  const auto fromAbove = [&](Ex any) { return isLow ? any : where(highest < any, highest, any); };
  const Ex isFar = above ? Ex{&e, call.src[0].src(0)} : x < lowest, near = above ? Ex{&e, above} : x;
  if (e.options.nativeScaleb)
    return above ? where(isFar, x.num(0), within(near)) : within(fromAbove(where(x < t.farBelow, t.farBelow, x)));
  return where(isFar, x.num(0), within(fromAbove(where(isFar, x.num(0), near))));
}

namespace {

Ex farTanh(Ex twice) {
  ExpParts parts = expParts(twice);
  Ex scale = powerOfTwo(parts.n.low, twice.dtype());
  return 1.0 - 2.0 / (fma(parts.tail, scale, scale) + 1.0);
}
Ex farTanhApproximated(Ex twice) { return fma(approximateReciprocal(approximateExp(twice, false) + 1.0), -2.0, 1.0); }

}  // namespace

// tanh x = 1 - 2 / (e^2x + 1) away from 0, where that would cancel.
UOp decomposeTanh(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  bool single = x.dtype() == DType::F32;
  Ex magnitude = abs(x), square = x * x;
  Ex small = fma(magnitude * square, single ? poly(square, kTanhF32) : poly(square, kTanhF64), magnitude);
  double enough = single ? 10 : 20;  // tanh rounds to 1
  Ex twice = where(enough < magnitude, enough, magnitude) * 2.0;
  Ex large = single && e.mayApproximate("ex2_approx") ? farTanhApproximated(twice) : farTanh(twice);
  return copySign(where(magnitude < 0.625, small, large), x);
}

namespace {

// One polynomial: two and a select would cost twice as much.
Ex erfF32(Ex magnitude) {
  constexpr double kEnough = 3.845;  // erf rounds to 1
  Ex value = magnitude * poly(fma(magnitude * magnitude, kErfScaleF32, -1.0), kErfF32);
  return where(kEnough <= magnitude, 1.0, value);
}

// erf x = 1 - e^p(x) away from 0.
Ex erfF64(Ex magnitude) {
  constexpr double kEnough = 6;
  Ex small = fma(magnitude, poly(magnitude * magnitude, kErfF64), magnitude);
  ExpParts parts = expParts(poly(where(kEnough < magnitude, kEnough, magnitude), kErfcF64));
  Ex scale = powerOfTwo(parts.n.low, magnitude.dtype());
  return where(magnitude < 0.9375, small, 1.0 - fma(parts.tail, scale, scale));
}

}  // namespace

UOp decomposeErf(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  return copySign(x.dtype() == DType::F32 ? erfF32(abs(x)) : erfF64(abs(x)), x);
}

}  // namespace svod::detail
