#include "ir/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace svod {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The nearest power of two that f8e8m0 has, the larger one of two equally near. The sign is lost.
double roundToPower(double x) {
  constexpr int kLimit = 127;
  if (x == 0) return std::ldexp(1.0, -kLimit);
  if (std::isinf(x)) return std::ldexp(1.0, kLimit);
  int exponent = std::ilogb(x);
  if (std::abs(x) >= std::ldexp(1.5, exponent)) ++exponent;
  return std::ldexp(1.0, std::clamp(exponent, -kLimit, kLimit));
}

double roundTo(DType dtype, double x) {
  if (dtype == DType::F64) return std::isnan(x) ? kNaN : x;
  if (dtype == DType::F32) return std::isnan(x) ? kNaN : static_cast<double>(static_cast<float>(x));
  FloatFormat format = floatFormat(dtype);
  if (std::isnan(x)) return format.hasNan() ? kNaN : 0;
  if (format.specials == Specials::Powers) return roundToPower(x);
  double limit = maxFinite(dtype);
  if (std::isinf(x)) return format.hasInfinity() ? x : std::copysign(limit, x);
  int exponent = x == 0 ? 0 : std::max(std::ilogb(x), format.minExponent());
  int shift = format.fractionBits - exponent;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, shift)), -shift);
  if (std::abs(rounded) > limit) return std::copysign(isMinifloat(dtype) ? limit : kInf, x);
  return rounded == 0 && !format.hasNegativeZero() ? 0 : std::copysign(rounded, x);
}

int64_t wrap(DType dtype, int64_t v) {
  switch (dtype) {
    case DType::Bool: return v != 0;
    case DType::I64:
    case DType::U64:
    case DType::Index: return v;
    case DType::I32: return static_cast<int32_t>(v);
    case DType::U32: return static_cast<uint32_t>(v);
    default: break;
  }
  int bits = info(dtype).bits;
  if (bits == 64) return v;
  uint64_t low = static_cast<uint64_t>(v) & ((uint64_t{1} << bits) - 1);
  if (isSigned(dtype) && (low >> (bits - 1)) != 0) low |= ~uint64_t{0} << bits;
  return static_cast<int64_t>(low);
}

bool isNanCode(const FloatFormat& format, uint64_t bits) {
  uint64_t magnitude = format.specials == Specials::ZeroNan ? bits : bits & ~format.signBit;
  return format.hasInfinity() ? magnitude > format.infinity : format.hasNan() && magnitude == format.nan;
}

double decode(DType dtype, uint64_t bits) {
  if (dtype == DType::F64) return std::bit_cast<double>(bits);
  if (dtype == DType::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  FloatFormat format = floatFormat(dtype);
  bits &= (uint64_t{1} << info(dtype).bits) - 1;
  if (isNanCode(format, bits)) return kNaN;
  uint64_t implicit = uint64_t{1} << format.fractionBits, fraction = bits & (implicit - 1);
  int exponent = static_cast<int>((bits & ~format.signBit) >> format.fractionBits);
  double value;
  if (format.hasInfinity() && (bits & ~format.signBit) == format.infinity)
    value = kInf;
  else if (exponent == 0 && format.specials != Specials::Powers)
    value = std::ldexp(static_cast<double>(fraction), format.minExponent() - format.fractionBits);
  else
    value = std::ldexp(static_cast<double>(fraction | implicit), exponent - format.bias - format.fractionBits);
  return (bits & format.signBit) != 0 ? -value : value;
}

uint64_t encode(DType dtype, double x) {
  if (dtype == DType::F64) return std::bit_cast<uint64_t>(x);
  if (dtype == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(x));
  FloatFormat format = floatFormat(dtype);
  if (std::isnan(x)) return format.nan;
  if (format.specials == Specials::Powers) return static_cast<uint64_t>(std::ilogb(x) + format.bias);
  uint64_t sign = std::signbit(x) ? format.signBit : 0;
  if (std::isinf(x)) return sign | format.infinity;
  if (x == 0) return sign;
  int exponent = std::max(std::ilogb(x), format.minExponent());
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::abs(x), format.fractionBits - exponent));
  uint64_t implicit = uint64_t{1} << format.fractionBits;
  if (mantissa < implicit) return sign | mantissa;  // subnormal
  return sign | (static_cast<uint64_t>(exponent + format.bias) << format.fractionBits) | (mantissa - implicit);
}

}  // namespace

Scalar Scalar::ofInt(DType dtype, int64_t value) { return Scalar(dtype, static_cast<uint64_t>(wrap(dtype, value))); }

Scalar Scalar::ofFloat(DType dtype, double value) {
  return Scalar(dtype, std::bit_cast<uint64_t>(roundTo(dtype, value)));
}

Scalar Scalar::of(DType dtype, double value) {
  return isFloat(dtype) ? ofFloat(dtype, value) : ofInt(dtype, static_cast<int64_t>(value));
}

Scalar Scalar::fromBits(DType dtype, uint64_t bits) {
  if (dtype == DType::F32) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    return Scalar(dtype, std::bit_cast<uint64_t>(std::isnan(value) ? kNaN : static_cast<double>(value)));
  }
  if (!isFloat(dtype)) return ofInt(dtype, static_cast<int64_t>(bits));
  double value = decode(dtype, bits);
  return Scalar(dtype, std::bit_cast<uint64_t>(std::isnan(value) ? kNaN : value));
}

uint64_t Scalar::storageBits() const {
  if (dtype_ == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(asFloat()));
  if (isFloat(dtype_)) return encode(dtype_, asFloat());
  int bits = byteSize(dtype_) * 8;
  return bits == 64 ? raw_ : raw_ & ((uint64_t{1} << bits) - 1);
}

namespace {

// Fewest digits that round back to the value in its own dtype: 0.1 for the f32 next to 0.1.
std::to_chars_result shortestFloat(char* begin, char* end, const Scalar& value) {
  double x = value.asFloat();
  if (std::isfinite(x) && value.dtype() != DType::F64) {
    for (int digits = 1; digits <= 9; ++digits) {
      std::to_chars_result written = std::to_chars(begin, end, x, std::chars_format::general, digits);
      double parsed = 0;
      std::from_chars(begin, written.ptr, parsed);
      if (Scalar::ofFloat(value.dtype(), parsed) == value) return written;
    }
  }
  return std::to_chars(begin, end, x);
}

}  // namespace

std::string toText(const Scalar& value) {
  if (value.dtype() == DType::Bool) return value.asInt() != 0 ? "true" : "false";
  char buffer[40];
  std::to_chars_result end{};
  if (isFloat(value.dtype()))
    end = shortestFloat(buffer, buffer + sizeof buffer, value);
  else if (value.dtype() == DType::U64)
    end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<uint64_t>(value.asInt()));
  else
    end = std::to_chars(buffer, buffer + sizeof buffer, value.asInt());
  std::string text(buffer, end.ptr);
  // "1" of a float prints as "1.0" so that the text shows what it is.
  if (isFloat(value.dtype()) && text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace svod
