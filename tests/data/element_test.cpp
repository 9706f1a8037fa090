#include <catch2/catch.hpp>
#include <cmath>

#include "data/element_value.h"

using namespace svod;

namespace {
template <class T>
std::string text(ElementType type, T bits, uint64_t i = 0) {
  return elementText(type, reinterpret_cast<const std::byte*>(&bits), i);
}
template <class T>
double value(ElementType type, T bits, uint64_t i = 0) {
  return static_cast<double>(elementValue(type, reinterpret_cast<const std::byte*>(&bits), i));
}
}  // namespace

TEST_CASE("elements as text") {
  CHECK(text(ElementType::Bool, uint8_t{1}) == "true");
  CHECK(text(ElementType::I64, INT64_MIN) == "-9223372036854775808");
  CHECK(text(ElementType::U64, UINT64_MAX) == "18446744073709551615");
  CHECK(text(ElementType::I8, int8_t{-3}) == "-3");
  CHECK(text(ElementType::F32, 0.1F) == "0.1");
  CHECK(text(ElementType::F32, 60.0F) == "60");
  CHECK(text(ElementType::F32, -INFINITY) == "-inf");
  CHECK(text(ElementType::F64, 0.1 + 0.2) == "0.30000000000000004");
  CHECK(text(ElementType::F32, NAN) == "nan");
}

TEST_CASE("small floats by their bits") {
  CHECK(value(ElementType::F16, uint16_t{0x3c00}) == 1);
  CHECK(value(ElementType::F16, uint16_t{0x0001}) == std::ldexp(1.0, -24));
  CHECK(value(ElementType::F16, uint16_t{0xfbff}) == -65504);
  CHECK(std::isinf(value(ElementType::F16, uint16_t{0x7c00})));
  CHECK(std::isnan(value(ElementType::F16, uint16_t{0x7c01})));
  CHECK(value(ElementType::BF16, uint16_t{0x4049}) == 3.140625);
  CHECK(value(ElementType::F8E4M3, uint8_t{0x7e}) == 448);
  CHECK(std::isnan(value(ElementType::F8E4M3, uint8_t{0xff})));
  CHECK(value(ElementType::F8E4M3, uint8_t{0x01}) == std::ldexp(1.0, -9));
  CHECK(value(ElementType::F8E5M2, uint8_t{0x7b}) == 57344);
  CHECK(std::isinf(value(ElementType::F8E5M2, uint8_t{0x7c})));
  CHECK(value(ElementType::F8E5M2, uint8_t{0x01}) == std::ldexp(1.0, -16));
  CHECK(value(ElementType::F8E4M3FNUZ, uint8_t{0x7f}) == 240);
  CHECK(value(ElementType::F8E5M2FNUZ, uint8_t{0xff}) == -57344);
  CHECK(std::isnan(value(ElementType::F8E5M2FNUZ, uint8_t{0x80})));
  CHECK(value(ElementType::F8E8M0, uint8_t{0x00}) == std::ldexp(1.0, -127));
  CHECK(std::isnan(value(ElementType::F8E8M0, uint8_t{0xff})));
}

TEST_CASE("elements that share a byte, the first in the low bits") {
  CHECK(value(ElementType::I4, uint8_t{0x8f}, 0) == -1);
  CHECK(value(ElementType::I4, uint8_t{0x8f}, 1) == -8);
  CHECK(value(ElementType::U4, uint16_t{0x0b00}, 2) == 11);
  CHECK(value(ElementType::I2, uint8_t{0b10010011}, 0) == -1);
  CHECK(value(ElementType::U2, uint8_t{0b10010011}, 3) == 2);
  CHECK(value(ElementType::F4E2M1, uint8_t{0xf1}, 0) == 0.5);
  CHECK(text(ElementType::F4E2M1, uint8_t{0xf1}, 1) == "-6");
}
