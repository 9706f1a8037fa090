// Inverse trigonometric and hyperbolic functions, all from one polynomial for atan and the logarithm of 1 + x.
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/lower/common.h"

namespace svod {

namespace {

// atan(x) / x as a polynomial in x^2 for |x| <= tan(pi/8), highest power first; Chebyshev fits with relative
// errors of 2e-11 and 5e-20.
constexpr double kAtanShort[] = {0.047073481419680202, -0.08456192886940496, 0.1104048922721824, -0.14281588772654124,
                                 0.19999883856551303,  -0.33333332097609386, 0.99999999997839878};
constexpr double kAtanLong[] = {0.015113765096600925,
                                -0.033387824501211952,
                                0.04499500728984032,
                                -0.05217312574061591,
                                0.058768340046141607,
                                -0.066662052599765262,
                                0.076922810999377433,
                                -0.09090908059031191,
                                0.11111111085322109,
                                -0.14285714285329708,
                                0.19999999999997014,
                                -0.33333333333333324,
                                1.0};
constexpr double kPi = std::numbers::pi;

Tensor polynomial(Tensor z, std::span<const double> coefficients) {
  Tensor sum = z * coefficients[0] + coefficients[1];
  for (double c : coefficients.subspan(2)) sum = sum * z + c;
  return sum;
}

// Arguments above 1 are inverted, those above tan(pi/8) turned by a quarter of pi.
Tensor atanOf(Tensor x) {
  Tensor magnitude = abs(x), isLarge = gt(magnitude, 1);
  Tensor small = where(isLarge, recip(magnitude), magnitude);
  Tensor isTurned = gt(small, 0.41421356237309503);
  Tensor turned = where(isTurned, (small - 1.0) / (small + 1.0), small);
  std::span<const double> coefficients = kAtanShort;
  if (x.dtype() == DType::F64) coefficients = kAtanLong;
  Tensor angle = turned * polynomial(turned * turned, coefficients);
  angle = where(isTurned, angle + kPi / 4, angle);
  angle = where(isLarge, kPi / 2 - angle, angle);
  return oddFunction(x, angle);
}

// Beyond this 1 is lost beside a square.
constexpr double kLarge = 1e9;

}  // namespace

Results lowerAtan(OpCall& call) { return narrowed(call, atanOf(wideArg(call))); }

Results lowerAsin(OpCall& call) {
  Tensor x = wideArg(call);
  return narrowed(call, atanOf(x * recip(sqrt((1.0 - x) * (1.0 + x)))));
}

Results lowerAcos(OpCall& call) {
  Tensor x = wideArg(call);
  return narrowed(call, atanOf(sqrt((1.0 - x) / (1.0 + x))) * 2.0);
}

Results lowerAsinh(OpCall& call) {
  Tensor x = wideArg(call), a = abs(x);
  Tensor small = min(a, kLarge);
  Tensor y = log1pOf(small + small * small / (sqrt(small * small + 1.0) + 1.0));
  y = where(gt(a, kLarge), log(a) + std::numbers::ln2, y);
  return narrowed(call, oddFunction(x, y));
}

Results lowerAcosh(OpCall& call) {
  Tensor x = wideArg(call), t = min(x, kLarge) - 1.0;
  Tensor y = log1pOf(t + sqrt(t) * sqrt(t + 2.0));
  return narrowed(call, where(gt(x, kLarge), log(x) + std::numbers::ln2, y));
}

Results lowerAtanh(OpCall& call) {
  Tensor x = wideArg(call), a = abs(x);
  Tensor y = log1pOf((a * 2.0) / (1.0 - a)) * 0.5;
  return narrowed(call, oddFunction(x, y));
}

}  // namespace svod
