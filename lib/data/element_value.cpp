#include "data/element_value.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "support/packed.h"

namespace svod {

namespace {

template <class T>
T loadAs(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

enum class NoNumbers { Ieee, OneNan, ZeroNan, None };  // which patterns stand for infinity and NaN

/// A small float: sign, `exponentBits`, `mantissaBits`.
long double smallFloat(uint32_t bits, int exponentBits, int mantissaBits, NoNumbers kind) {
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
  const uint32_t mantissa = bits & ((1u << mantissaBits) - 1), most = (1u << exponentBits) - 1;
  const uint32_t exponent = (bits >> mantissaBits) & most, sign = bits >> (exponentBits + mantissaBits) & 1;
  const bool isTop = exponent == most, isZero = exponent == 0 && mantissa == 0;
  if (kind == NoNumbers::Ieee && isTop && mantissa != 0) return kNan;
  if (kind == NoNumbers::OneNan && isTop && mantissa == (1u << mantissaBits) - 1) return kNan;
  if (kind == NoNumbers::ZeroNan && isZero && sign == 1) return kNan;
  const int bias = static_cast<int>(most / 2) + (kind == NoNumbers::ZeroNan ? 1 : 0),
            power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - mantissaBits;
  const uint32_t whole = exponent == 0 ? mantissa : mantissa | (1u << mantissaBits);
  const long double magnitude = kind == NoNumbers::Ieee && isTop ? std::numeric_limits<long double>::infinity()
                                                                 : std::ldexp(static_cast<long double>(whole), power);
  return sign == 1 ? -magnitude : magnitude;
}

long double powerOfTwo(uint8_t exponent) {
  return exponent == 0xff ? std::numeric_limits<long double>::quiet_NaN() : std::ldexp(1.0L, exponent - 127);
}

int signExtended(unsigned code, int bits) {
  const unsigned sign = 1u << (bits - 1);
  return static_cast<int>(code ^ sign) - static_cast<int>(sign);
}

long double packedValue(ElementType type, unsigned code) {
  if (isFloat(type)) return smallFloat(code, 2, 1, NoNumbers::None);
  return info(type).kind == ElementKind::Signed ? signExtended(code, info(type).bits) : static_cast<int>(code);
}

int significantDigits(ElementType type) {
  switch (type) {
    case ElementType::F64: return 17;
    case ElementType::F32: return 9;
    case ElementType::F16: return 5;
    case ElementType::BF16: return 4;
    default: return 3;
  }
}

}  // namespace

long double elementValue(ElementType type, const std::byte* memory, uint64_t i) {
  if (isPacked(type)) return packedValue(type, codeAt(info(type).bits, memory, i));
  const std::byte* at = memory + i * byteSize(type);
  switch (type) {
    case ElementType::Bool: return loadAs<uint8_t>(at) != 0;
    case ElementType::I8: return loadAs<int8_t>(at);
    case ElementType::I16: return loadAs<int16_t>(at);
    case ElementType::I32: return loadAs<int32_t>(at);
    case ElementType::I64: return static_cast<long double>(loadAs<int64_t>(at));
    case ElementType::U8: return loadAs<uint8_t>(at);
    case ElementType::U16: return loadAs<uint16_t>(at);
    case ElementType::U32: return loadAs<uint32_t>(at);
    case ElementType::U64: return static_cast<long double>(loadAs<uint64_t>(at));
    case ElementType::F16: return smallFloat(loadAs<uint16_t>(at), 5, 10, NoNumbers::Ieee);
    case ElementType::BF16: return std::bit_cast<float>(static_cast<uint32_t>(loadAs<uint16_t>(at)) << 16);
    case ElementType::F32: return loadAs<float>(at);
    case ElementType::F64: return loadAs<double>(at);
    case ElementType::F8E4M3: return smallFloat(loadAs<uint8_t>(at), 4, 3, NoNumbers::OneNan);
    case ElementType::F8E4M3FNUZ: return smallFloat(loadAs<uint8_t>(at), 4, 3, NoNumbers::ZeroNan);
    case ElementType::F8E5M2: return smallFloat(loadAs<uint8_t>(at), 5, 2, NoNumbers::Ieee);
    case ElementType::F8E5M2FNUZ: return smallFloat(loadAs<uint8_t>(at), 5, 2, NoNumbers::ZeroNan);
    case ElementType::F8E8M0: return powerOfTwo(loadAs<uint8_t>(at));
    default: break;
  }
  return 0;
}

std::string elementText(ElementType type, const std::byte* memory, uint64_t i) {
  if (type == ElementType::Bool) return loadAs<uint8_t>(memory + i) != 0 ? "true" : "false";
  if (type == ElementType::I64) return std::to_string(loadAs<int64_t>(memory + 8 * i));
  if (type == ElementType::U64) return std::to_string(loadAs<uint64_t>(memory + 8 * i));
  const long double value = elementValue(type, memory, i);
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
