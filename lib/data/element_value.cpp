#include "data/element_value.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace svod {

namespace {

template <class T>
T loadAs(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A small float: sign, `exponentBits`, `mantissaBits`. Without infinities only all ones is NaN (e4m3).
long double smallFloat(uint32_t bits, int exponentBits, int mantissaBits, bool hasInfinity) {
  const uint32_t mantissa = bits & ((1u << mantissaBits) - 1), most = (1u << exponentBits) - 1;
  const uint32_t exponent = (bits >> mantissaBits) & most;
  const long double sign = (bits >> (exponentBits + mantissaBits)) & 1 ? -1.0L : 1.0L;
  if (exponent == most && hasInfinity)
    return sign * (mantissa == 0 ? std::numeric_limits<long double>::infinity()
                                 : std::numeric_limits<long double>::quiet_NaN());
  if (exponent == most && mantissa == (1u << mantissaBits) - 1 && !hasInfinity)
    return std::numeric_limits<long double>::quiet_NaN();
  const int bias = static_cast<int>(most / 2),
            power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - mantissaBits;
  const uint32_t whole = exponent == 0 ? mantissa : mantissa | (1u << mantissaBits);
  return sign * std::ldexp(static_cast<long double>(whole), power);
}

int significantDigits(ElementType type) {
  switch (type) {
    case ElementType::F64:
      return 17;
    case ElementType::F32:
      return 9;
    case ElementType::F16:
      return 5;
    case ElementType::BF16:
      return 4;
    default:
      return 3;
  }
}

}  // namespace

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64 || type == ElementType::F8E4M3 || type == ElementType::F8E5M2;
}

long double elementValue(ElementType type, const std::byte* at) {
  switch (type) {
    case ElementType::Bool:
      return loadAs<uint8_t>(at) != 0;
    case ElementType::I8:
      return loadAs<int8_t>(at);
    case ElementType::I16:
      return loadAs<int16_t>(at);
    case ElementType::I32:
      return loadAs<int32_t>(at);
    case ElementType::I64:
      return static_cast<long double>(loadAs<int64_t>(at));
    case ElementType::U8:
      return loadAs<uint8_t>(at);
    case ElementType::U16:
      return loadAs<uint16_t>(at);
    case ElementType::U32:
      return loadAs<uint32_t>(at);
    case ElementType::U64:
      return static_cast<long double>(loadAs<uint64_t>(at));
    case ElementType::F16:
      return smallFloat(loadAs<uint16_t>(at), 5, 10, true);
    case ElementType::BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(loadAs<uint16_t>(at)) << 16);
    case ElementType::F32:
      return loadAs<float>(at);
    case ElementType::F64:
      return loadAs<double>(at);
    case ElementType::F8E4M3:
      return smallFloat(loadAs<uint8_t>(at), 4, 3, false);
    case ElementType::F8E5M2:
      return smallFloat(loadAs<uint8_t>(at), 5, 2, true);
  }
  return 0;
}

std::string elementText(ElementType type, const std::byte* at) {
  if (type == ElementType::Bool) return loadAs<uint8_t>(at) != 0 ? "true" : "false";
  if (type == ElementType::I64) return std::to_string(loadAs<int64_t>(at));
  if (type == ElementType::U64) return std::to_string(loadAs<uint64_t>(at));
  const long double value = elementValue(type, at);
  if (!isFloat(type)) return std::to_string(static_cast<int64_t>(value));
  if (std::isnan(value)) return "nan";
  char text[48];
  if (std::fabs(value) < 1e15L && value == std::trunc(value)) {  // "60", not "6e+01"
    std::snprintf(text, sizeof text, "%.0Lf", value);
    return text;
  }
  for (int digits = 1; digits <= significantDigits(type); digits++) {
    std::snprintf(text, sizeof text, "%.*Lg", digits, value);
    // Fewer digits do when they read back as the same element; a float's neighbours are far enough apart.
    const long double back = std::strtold(text, nullptr);
    const bool same = type == ElementType::F32 ? static_cast<float>(back) == static_cast<float>(value)
                                               : static_cast<double>(back) == static_cast<double>(value);
    if (same) break;
  }
  return text;
}

}  // namespace svod
