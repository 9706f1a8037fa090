// Fmod as C defines it, without error: long division of the mantissas, many bits of the quotient in each step.
#include <algorithm>

#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

// x = 2^exponent mantissa with 1 <= mantissa < 2, for positive finite x, subnormals included.
struct Parts {
  Ex mantissa, exponent;  // a float, and a signed integer of its width
};
Parts partsOf(Ex x) {
  const FloatLayout& l = layoutOf(x.dtype());
  Ex subnormal = x < std::ldexp(1.0, 1 - l.bias);
  Ex bits = bitcast(where(subnormal, x * std::ldexp(1.0, l.fraction), x), l.sint);
  Ex exponent = (bits >> l.fraction) - where(subnormal, l.bias + l.fraction, bits.num(l.bias));
  Ex one = bitcast(x.num(1.0), l.sint);
  return {bitcast((bits & bits.bits((uint64_t{1} << l.fraction) - 1)) | one, l.dtype), exponent};
}

// How a step divides: by `bits` more bits of the quotient. The multiple of the divisor that is taken off needs no
// rounding: it has few bits, is part of a fused product, or is a sum of two.
struct Division {
  DType dtype;
  int bits;
  bool isShort;
};
Division divisionIn(DType dtype, bool fma) {
  if (dtype == DType::F32 && !fma) return {DType::F64, 28, true};
  return {dtype, info(dtype).fractionBits - 2, false};
}

Ex lessMultiple(Ex x, Ex quotient, Ex divisor, bool isShort) {
  if (isShort) return x - quotient * divisor;
  if (x.e->options.fma) return fma(-quotient, divisor, x);
  const Product p = exactProduct(quotient, divisor);
  return (x - p.high) - p.low;
}

// The most bits that a quotient of numbers of this format has before its point.
int mostBits(DType dtype, UOp divisor) {
  const FloatLayout& l = layoutOf(dtype);
  const double y = divisor.isConst() ? std::abs(divisor.constant().asFloat()) : 0;
  const int least = y > 0 && std::isfinite(y) ? std::ilogb(y) : 1 - l.bias - l.fraction;
  return std::max(l.bias - least, 0);
}

// x mod y for 0 < y <= x, both finite. A rest stays below two thirds of the divisor, on either side of 0: the quotient
// of a step is rounded, and off by another quarter at most, as the reciprocal is rounded as well.
Ex remainder(Ex x, Ex y, int quotientBits, const Division& division) {
  const Parts above = partsOf(x), below = partsOf(y);
  Ex left = above.exponent - below.exponent, divisor = below.mantissa, inverse = 1.0 / divisor;
  left = where(left < 0, 0, left);
  Ex rest = where(above.mantissa < divisor, above.mantissa, above.mantissa - divisor);
  for (int done = 0; done < quotientBits; done += division.bits) {
    Ex now = where(left < division.bits, left, left.num(division.bits));
    Ex scaled = rest * powerOfTwo(now, x.dtype());
    rest = lessMultiple(scaled, un(Op::Round, scaled * inverse), divisor, division.isShort);
    left = left - now;
  }
  rest = where(rest < 0, rest + divisor, rest);
  const Ex n = below.exponent;
  return scaleByPowerOfTwo(rest, {n, cast(cast(n, DType::I32), x.dtype()), n}, n < 0);
}

// By a power of two that divides without overflow; a quotient that becomes 0 is none.
bool isWholePower(UOp divisor) {
  if (!divisor.isConst()) return false;
  int exponent = 0;
  const double y = std::abs(divisor.constant().asFloat());
  return y >= 1 && std::isfinite(y) && std::frexp(y, &exponent) == 0.5;
}

}  // namespace

UOp decomposeFmod(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, x = abs(a), y = abs(Ex{&e, call.src[1]});
  if (isWholePower(y)) {
    Ex quotient = un(Op::Trunc, x * (1 / y.node.constant().asFloat()));
    return copySign(x - quotient * y, a);
  }
  const Division division = divisionIn(call.dtype, e.options.fma);
  Ex rest = remainder(cast(x, division.dtype), cast(y, division.dtype), mostBits(call.dtype, y), division);
  Ex isDefined = (x < x.inf()) & (0 < y);
  return where(x < y, a, where(isDefined, copySign(cast(rest, call.dtype), a), x.nan()));
}

}  // namespace svod::detail
