#include "e2e/functions.h"

#include <algorithm>
#include <cmath>

#include "ir/scalar.h"

namespace svod {

namespace {

using Real = long double;

Real product(Real x, Real gate) { return gate == 0 ? std::copysign(Real(0), x) : x * gate; }  // also of an infinity
Real sigmoid(Real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Real softplus(Real x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Real elu(Real x, Real alpha) { return x > 0 ? x : alpha * std::expm1(x); }
Real hardSigmoid(Real x) { return std::clamp<Real>(x / 6 + 0.5L, 0, 1); }
Real tanhGeluArgument(Real x) { return 2 * std::sqrt(2 / std::acos(Real(-1))) * (x + 0.044715L * x * x * x); }
Real keepNan(Real x, Real y) { return std::isnan(x) ? x : y; }

// An argument that is off by a rounding moves an exponential by as many units as the argument is large.
template <Real (*argument)(Real), Real (*value)(Real)>
double exponentOf(double x) {
  Real size = std::abs(argument(x)) * std::abs(value(x));
  return std::isfinite(size) ? static_cast<double>(size) * 2 : 0;
}
Real silu(Real x) { return product(x, sigmoid(x)); }
Real quickArgument(Real x) { return x * 1.702L; }
Real quickGelu(Real x) { return product(x, sigmoid(x * 1.702L)); }
Real tanhGelu(Real x) { return product(x, sigmoid(tanhGeluArgument(x))); }
Real gelu(Real x) { return product(x, std::erfc(-x / std::sqrt(Real(2))) / 2); }
Real celu(Real x) { return x > 0 ? x : 1.5L * std::expm1(x / 1.5L); }
Real celuArgument(Real x) { return x > 0 ? 0 : x / 1.5L; }
Real celuExponential(Real x) { return x > 0 ? 0 : 1.5L * std::exp(x / 1.5L); }
double erfTerm(double x) { return x < 0 ? -3.5 * std::max(x, -40.0) : 0; }  // 1 + erf(x) cancels
double hardTerm(double x) { return std::abs(x) < 4 ? 1.5 : 0; }
double hardSwishTerm(double x) { return std::abs(x) < 4 ? 1.5 * std::abs(x) : 0; }

#define SVOD_REAL(...) [](Real x) -> Real { return __VA_ARGS__; }
const Function kFunctions[] = {
    {"neg", "", SVOD_REAL(-x), 0.5},
    {"abs", "", SVOD_REAL(std::abs(x)), 0.5},
    {"sign", "",
     SVOD_REAL(x > 0   ? 1
               : x < 0 ? -1
                       : x),
     0.5, 0, nullptr, true},
    {"recip", "", SVOD_REAL(1 / x), 0.51},
    {"square", "", SVOD_REAL(x* x), 0.51},
    {"sqrt", "", SVOD_REAL(std::sqrt(x)), 0.51},
    {"rsqrt", "", SVOD_REAL(1 / std::sqrt(x)), 1.6},
    {"trunc", "", SVOD_REAL(std::trunc(x)), 0.5},
    {"floor", "", SVOD_REAL(std::floor(x)), 0.5},
    {"ceil", "", SVOD_REAL(std::ceil(x)), 0.5},
    {"round", "", SVOD_REAL(std::nearbyint(x)), 0.5},
    {"clip", "min=-1, max=2", SVOD_REAL(keepNan(x, std::clamp<Real>(x, -1, 2))), 0.5, 0, nullptr, true},
    {"exp", "", SVOD_REAL(std::exp(x)), 1.1, 2.6},
    {"exp2", "", SVOD_REAL(std::exp2(x)), 1.1, 2.6},
    {"expm1", "", SVOD_REAL(std::expm1(x)), 3, 5},
    {"log", "", SVOD_REAL(std::log(x)), 1.1},
    {"log2", "", SVOD_REAL(std::log2(x)), 1.8},
    {"log1p", "", SVOD_REAL(std::log1p(x)), 4},
    {"log10", "", SVOD_REAL(std::log10(x)), 3},
    {"sin", "", SVOD_REAL(std::sin(x)), 1.0},
    {"cos", "", SVOD_REAL(std::cos(x)), 1.0},
    {"tan", "", SVOD_REAL(std::tan(x)), 2.5},
    {"tanh", "", SVOD_REAL(std::tanh(x)), 1.5, 3.5},
    {"sinh", "", SVOD_REAL(std::sinh(x)), 4, 8},
    {"cosh", "", SVOD_REAL(std::cosh(x)), 4, 8},
    {"asin", "", SVOD_REAL(std::asin(x)), 4},
    {"acos", "", SVOD_REAL(std::acos(x)), 4},
    {"atan", "", SVOD_REAL(std::atan(x)), 4},
    {"asinh", "", SVOD_REAL(std::asinh(x)), 4},
    {"acosh", "", SVOD_REAL(std::acosh(x)), 4},
    {"atanh", "", SVOD_REAL(std::atanh(x)), 4},
    {"erf", "", SVOD_REAL(std::erf(x)), 5.5},
    {"sigmoid", "", sigmoid, 2.5, 4.5},
    {"relu", "", SVOD_REAL(keepNan(x, std::max<Real>(x, 0))), 0.5, 0, nullptr, true},
    {"relu6", "", SVOD_REAL(keepNan(x, std::clamp<Real>(x, 0, 6))), 0.5, 0, nullptr, true},
    {"leaky_relu", "", SVOD_REAL(x < 0 ? 0.01L * x : x), 1.1},
    {"elu", "", SVOD_REAL(elu(x, 1)), 2.1, 4.1},
    {"celu", "alpha=1.5", celu, 3.1, 5.1, exponentOf<celuArgument, celuExponential>},
    {"selu", "", SVOD_REAL(1.0507009873554804934193349852946L * elu(x, 1.6732632423543772848170429916717L)), 3.1, 5.1},
    {"gelu", "", gelu, 6, 0, erfTerm, false, true},
    {"gelu", "approximate=tanh", tanhGelu, 6, 8, exponentOf<tanhGeluArgument, tanhGelu>, false, true},
    {"quick_gelu", "", quickGelu, 6, 8, exponentOf<quickArgument, quickGelu>, false, true},
    {"silu", "", silu, 3.5, 5.5, nullptr, false, true},
    {"mish", "", SVOD_REAL(product(x, std::tanh(softplus(x)))), 4, 6, nullptr, false, true},
    {"softplus", "", softplus, 3, 5},
    {"softsign", "", SVOD_REAL(std::isinf(x) ? std::copysign(Real(1), x) : x / (1 + std::abs(x))), 1.6},
    {"hard_sigmoid", "", SVOD_REAL(keepNan(x, hardSigmoid(x))), 1.6, 0, hardTerm, true},
    {"hard_swish", "", SVOD_REAL(keepNan(x, product(x, hardSigmoid(x)))), 2.6, 0, hardSwishTerm, true},
    {"threshold", "", SVOD_REAL(x > 1 ? x : 0), 0.5, 0, nullptr, true},
};
#undef SVOD_REAL

}  // namespace

std::span<const Function> unaryFunctions() { return kFunctions; }

std::string differenceAt(const Function& f, DType d, double x, long double exact, double got) {
  const auto words = [&] {
    return std::string(f.op) + "(" + toText(Scalar::ofFloat(d, x)) + ") is " + toText(Scalar::ofFloat(d, got)) +
           ", not " + std::to_string(static_cast<double>(exact)) + " (" +
           toText(Scalar::ofFloat(d, static_cast<double>(exact))) + ")";
  };
  const FloatFormat format = floatFormat(d);
  if (std::isnan(exact)) return std::isnan(got) || (!format.hasNan() && got == 0) ? "" : words();
  if (std::isnan(got)) return words();
  const double nearest = Scalar::ofFloat(d, static_cast<double>(exact)).asFloat();
  // Beyond the range of f32 small floats follow what f32 gives.
  const double throughF32 =
      Scalar::ofFloat(d, Scalar::ofFloat(DType::F32, static_cast<double>(exact)).asFloat()).asFloat();
  const bool signsAgree =
      got != 0 || f.eitherZero || !format.hasNegativeZero() || std::signbit(got) == std::signbit(exact);
  if (got == nearest || (d != DType::F64 && got == throughF32)) return signsAgree ? "" : words();
  if (std::isinf(exact) || exact == 0) return words();

  const bool isSmall = d != DType::F32 && d != DType::F64;
  const int fraction = info(d).fractionBits, top = std::ilogb(maxFinite(d));
  const int least = std::ilogb(Scalar::fromBits(d, 1).asFloat()) + fraction;  // of the smallest normal number
  if (std::isinf(got)) got = std::copysign(std::ldexp(1.0, std::min(top + 1, 1023)), got);
  const long double unit = std::ldexp(1.0L, std::max(std::ilogb(exact), least) - fraction);
  const DType computed = d == DType::F64 ? d : DType::F32;
  const long double epsilon = std::ldexp(1.0L, -info(computed).fractionBits);
  long double bound = isSmall ? unit : f.ulp * unit;
  if (f.absolute) bound += f.absolute(x) * epsilon;
  if (f.isProduct) bound += std::abs(x) * Scalar::fromBits(computed, 1).asFloat();
  return std::abs(got - exact) <= bound && signsAgree ? "" : words();
}

}  // namespace svod
