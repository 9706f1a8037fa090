// Functions of f32 by the approximate instructions of GPUs, and quotients by constants, which strict numerics do not
// use. Bounds: docs/numerics.md.
#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

// Operands of an approximate reciprocal that are no subnormal numbers and give none.
constexpr double kLeastDivisor = 0x1p-126, kMostDivisor = 0x1p126;

bool isWithin(Emitter::FloatRange range, double least, double most) {
  return least <= range.least && range.most <= most;
}

// The rest that a quotient leaves is known without error, so that one step corrects the error of the reciprocal.
Ex corrected(Ex a, Ex b, Ex reciprocal) {
  Ex quotient = a.node.isConst() && a.node.constant().asFloat() == 1 ? reciprocal : a * reciprocal;
  return fma(fma(-b, quotient, a), reciprocal, quotient);
}

// The product is what the quotient is where infinities or divisors of 0 leave NaN as a rest, and has the sign of a 0.
Ex correctedOrProduct(Ex a, Ex b, Ex reciprocal) {
  Ex quotient = corrected(a, b, reciprocal);
  return where(0 < abs(quotient), quotient, a * reciprocal);
}

bool isPowerOfTwo(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

UOp divideByConstant(Ex a, Ex b) {
  const double divisor = b.node.constant().asFloat();
  const double magnitude = std::abs(divisor);
  if (!(kLeastDivisor <= magnitude && magnitude <= kMostDivisor)) return {};
  Ex reciprocal = b.num(1 / divisor);
  return isPowerOfTwo(divisor) ? a * reciprocal : correctedOrProduct(a, b, reciprocal);
}

}  // namespace

// e^x = 2^n 2^f, where n is kept from -126 to 127, so that 2^n is a number: what is left of the exponent beyond that is
// in f, and makes the product subnormal, 0 or infinity. The low bits of `shifted` are n + 127.
Ex approximateExp(Ex x, bool isOfTwo) {
  constexpr double kLowest = -126, kSteps = 253, kShift = 0x1.8p23;
  const double log2e = isOfTwo ? 1 : kLog2eF64Pair[0];
  Ex place = gpu("fma_sat", DType::F32, x, x.num(log2e / kSteps), x.num(-kLowest / kSteps));
  Ex shifted = fma(place, kSteps, kShift + 1), n = shifted - (kShift + 1 - kLowest);
  Ex f = isOfTwo ? x - n : fma(x, kLog2eF32[0], -n);
  if (!isOfTwo) f = fma(x, kLog2eF32[1], f);
  Ex power = bitcast(bitcast(shifted, DType::U32) << 23, DType::F32);
  Ex result = gpu("ex2_approx", DType::F32, f) * power;
  const double most = x.e->rangeOf(x).most;
  x.e->noteRange(result, {0, isOfTwo ? std::exp2(most) : std::exp(most)});
  return result;
}

Ex approximateReciprocal(Ex x) { return gpu("rcp_approx", DType::F32, x); }

UOp decomposeFdiv(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, b{&e, call.src[1]};
  const bool approximates = e.mayApproximate("rcp_approx");
  const bool corrects = e.options.correctsQuotients && e.options.numerics != Numerics::Strict;
  if (call.src[1].isConst() && (approximates || corrects)) return divideByConstant(a, b);
  if (!approximates) return {};
  const double largest = maxFinite(DType::F32);
  if (isWithin(e.rangeOf(b), kLeastDivisor, kMostDivisor)) {
    Ex reciprocal = approximateReciprocal(b);
    return isWithin(e.rangeOf(a), 0, largest) ? corrected(a, b, reciprocal) : correctedOrProduct(a, b, reciprocal);
  }
  Ex magnitude = abs(b);
  Ex scale = where(kMostDivisor < magnitude, 0.25, where(magnitude < kLeastDivisor, b.num(0x1p24), b.num(1)));
  Ex divisor = b * scale;
  return correctedOrProduct(a * scale, divisor, approximateReciprocal(divisor));
}

}  // namespace svod::detail
