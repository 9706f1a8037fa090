#include "cuda_grid/lane_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cuda_grid/calls.h"

namespace svod {

namespace {

/// The bits of the nearest f16, of the one NaN that a GPU makes, and its value.
uint16_t toHalf(float x) { return std::isnan(x) ? 0x7fff : std::bit_cast<uint16_t>(static_cast<_Float16>(x)); }
float fromHalf(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

/// A format of few bits: what is beyond `most` becomes that.
struct Format {
  int fraction, bias, bits;
  double most;
};
constexpr Format kBf16{7, 127, 16, 0x1p128}, kF8e4m3{3, 7, 8, 448}, kF8e5m2{2, 15, 8, 57344};

/// The bits of the nearest number, ties to even; NaN has all of them but the sign.
double toFormat(const Format& f, double x) {
  const double sign = std::signbit(x) ? std::ldexp(1.0, f.bits - 1) : 0;
  if (std::isnan(x)) return std::ldexp(1.0, f.bits - 1) - 1;
  const double magnitude = std::min(std::abs(x), f.most);
  const auto unitOf = [&](double m) {
    return m == 0 ? 1 - f.bias - f.fraction : std::max(std::ilogb(m), 1 - f.bias) - f.fraction;
  };
  const double rounded =
      std::min(std::ldexp(std::nearbyint(std::ldexp(magnitude, -unitOf(magnitude))), unitOf(magnitude)), f.most);
  const int unit = unitOf(rounded);
  // Numbers count on from one exponent to the next.
  return sign + std::ldexp(unit + f.fraction + f.bias - 1, f.fraction) + std::ldexp(rounded, -unit);
}
double fromF8e4m3(int bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if ((bits & 127) == 127) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = std::ldexp(exponent == 0 ? fraction : fraction + 8, std::max(exponent, 1) - 10);
  return bits >= 128 ? -magnitude : magnitude;
}

double flushed(double x) { return std::abs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

/// A float up to `units` of the last place beside the exact value, which its bits draw.
double offBy(double exact, int units) {
  const auto nearest = static_cast<float>(exact);
  int exponent = 0;
  if (!std::isfinite(nearest) || std::abs(std::frexp(exact, &exponent)) == 0.5 || exact == 0) return nearest;
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  const uint64_t drawn = std::bit_cast<uint64_t>(exact) * 0x9e3779b97f4a7c15u >> 32;
  double away = nearest + (static_cast<double>(drawn % (2 * units + 1)) - units) * unit;
  while (std::abs(away - exact) > units * unit) away += away < exact ? unit : -unit;
  return std::signbit(away) == std::signbit(exact) ? static_cast<float>(away) : std::copysign(0.0, exact);
}

double extremum(double x, double y, bool isMax) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  if (x == y) return std::signbit(x) == isMax ? y : x;
  return (x < y) == isMax ? y : x;
}

double fmaOf(double x, double y, double z) {
  return std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
}
double between01(double x) { return std::isnan(x) ? 0 : std::clamp(x, 0.0, 1.0); }

}  // namespace

double mathOf(void*, int function, double x, double y, double z) {
  switch (function) {
    case SvodFma: return std::fma(x, y, z);
    case SvodFmaf: return fmaOf(x, y, z);
    case SvodTrunc: return std::trunc(x);
    case SvodFloor: return std::floor(x);
    case SvodCeil: return std::ceil(x);
    case SvodRound: return std::nearbyint(x);
    case SvodSqrt: return std::sqrt(x);
    case SvodSqrtf: return std::sqrt(static_cast<float>(x));
    case SvodToHalf: return toHalf(static_cast<float>(x));
    case SvodFromHalf: return fromHalf(static_cast<uint16_t>(x));
    case SvodExp2: return flushed(offBy(std::exp2(flushed(x)), 2));
    case SvodReciprocal: return flushed(offBy(1 / flushed(x), 1));
    case SvodMax: return extremum(x, y, true);
    case SvodMin: return extremum(x, y, false);
    case SvodFmaSat: return between01(fmaOf(x, y, z));
    case SvodToBf16: return toFormat(kBf16, x);
    case SvodToF8e4m3: return toFormat(kF8e4m3, x);
    case SvodToF8e5m2: return toFormat(kF8e5m2, x);
    case SvodFromF8e4m3: return fromF8e4m3(static_cast<int>(x));
    default: return 0;
  }
}

}  // namespace svod
