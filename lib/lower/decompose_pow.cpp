// Pow = 2^(y log2 |x|): the logarithm and the product carry more bits than the result, f64 for f32 and sums of two f64
// for f64. Then the sign and the special cases of C.
#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

struct Sum {
  Ex high, low;
};
Sum fastTwoSum(Ex a, Ex b) {  // |a| >= |b| or a == 0
  Ex s = a + b;
  return {s, (a - s) + b};
}
Sum multiply(Sum a, Sum b) {
  Product p = exactProduct(a.high, b.high);
  return fastTwoSum(p.high, p.low + fma(a.high, b.low, a.low * b.high));
}
Sum constant(Ex x, const double* parts) { return {x.num(parts[0]), x.num(parts[1])}; }

// 2^p for p = high + low within the range that matters, before scaling by 2^n.
struct Power {
  Ex n, value;
};

// log2 x to about 68 bits, x positive and finite: s = f / (2 + f), log(1 + f) = 2s + 2/3 s^3 + s^5 p(s^2), and the
// first two terms are sums.
Sum log2Sum(Ex x) {
  LogParts parts = logParts(x);
  Ex f = parts.f;
  Sum denominator = fastTwoSum(f.num(2.0), f);
  Ex q = f / denominator.high;
  Product back = exactProduct(q, denominator.high);
  Ex rest = ((f - back.high) - back.low - q * denominator.low) / denominator.high;
  Sum s = fastTwoSum(q, rest);
  Sum square = multiply(s, s);
  Ex tail = square.high * poly(square.high, kPowLogF64);
  Sum series = fastTwoSum(x.num(kTwoThirds[0]), tail + kTwoThirds[1]);  // 2/3 + s^2 p
  Sum cubic = multiply(square, series);
  Sum factor = fastTwoSum(x.num(2.0), cubic.high);  // 2 + s^2 (2/3 + ..)
  Sum natural = multiply(s, {factor.high, factor.low + cubic.low});
  Sum log2 = multiply(natural, constant(x, kLog2eF64Pair));
  Sum total = fastTwoSum(parts.n, log2.high);
  return fastTwoSum(total.high, total.low + log2.low);
}

Ex powerF64(Ex x, Ex y) {
  Sum log2 = log2Sum(x);
  y = clamp(y, -0x1p66, 0x1p66);  // beyond, every x but 1 overflows or underflows; infinity times log 1 is NaN
  Product p = exactProduct(y, log2.high);
  Ex high = clamp(p.high, -1100, 1100);
  Ex low = where(abs(p.high) < 1100.0, fma(y, log2.low, p.low), 0.0);
  Rounded n = roundToInt(high + layoutOf(DType::F64).roundMagic);
  Ex r = (high - n.value) + low;
  return scaleByPowerOfTwo(fma(r, poly(r, kExp2F64), 1.0), n, high < 0);
}

Ex powerF32(Ex x, Ex y) {
  LogParts parts = logParts(cast(x, DType::F64));
  Ex log2 = fma(parts.f, poly(parts.f, kPowLog2F32), parts.n);
  Ex p = clamp(clamp(cast(y, DType::F64), -0x1p40, 0x1p40) * log2, -160, 140);
  Rounded n = roundToInt(p + layoutOf(DType::F64).roundMagic);
  Ex r = p - n.value;
  Ex mantissa = fma(r, poly(r, kPowExp2F32), 1.0);
  return cast(mantissa * powerOfTwo(n.low, DType::F64), DType::F32);
}

}  // namespace

UOp decomposePow(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]}, y{&e, call.src[1]};
  Ex magnitude = abs(x), infinity = x.inf();
  auto truncated = [](Ex v) { return un(Op::Trunc, v); };
  Ex ordinary = (0 < magnitude) & (magnitude < infinity);
  Ex base = where(ordinary, magnitude, 1.0);
  Ex power = x.dtype() == DType::F32 ? powerF32(base, y) : powerF64(base, y);
  Ex towardsZero = (magnitude == 0) ^ (y < 0);  // of 0 or infinity
  power =
      where(ordinary, power, where(x != x, x.nan(), where(y != y, x.nan(), where(towardsZero, x.num(0.0), infinity))));
  Ex whole = truncated(y) == y, half = y * 0.5;
  Ex odd = whole & (truncated(half) != half);
  Ex negative = bitcast(x, layoutOf(x.dtype()).sint) < 0;
  power = where(negative & odd, -power, power);
  power = where((x < 0) & (magnitude < infinity) & ~whole, x.nan(), power);
  return where((y == 0) | (x == 1), 1.0, power);
}

}  // namespace svod::detail
