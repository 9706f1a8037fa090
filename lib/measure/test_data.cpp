#include "measure/test_data.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "data/element_value.h"

namespace svod {

namespace {

constexpr int kUnits = 256;  // of the last place of the largest value, that floats may differ by

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
};

template <class T, class Make>
void fill(std::span<std::byte> bytes, const Make& make) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = make();
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

/// Bits of the significand, hidden one included.
int precisionOf(ElementType type) {
  switch (type) {
    case ElementType::F64: return 53;
    case ElementType::F32: return 24;
    case ElementType::F16: return 11;
    case ElementType::BF16: return 8;
    default: return 2;
  }
}

long double unitAt(long double value, int precision) {
  return value == 0 ? 0 : std::ldexp(1.0L, std::ilogb(value) + 1 - precision);
}

uint64_t countOf(std::span<const std::byte> bytes, ElementType type) {
  return isPacked(type) ? bytes.size() * (8 / info(type).bits) : bytes.size() / byteSize(type);
}

/// Of the finite ones.
long double largestOf(std::span<const std::byte> floats, ElementType type) {
  long double largest = 0;
  for (uint64_t i = 0; i < countOf(floats, type); ++i)
    if (const long double v = std::fabs(elementValue(type, floats.data(), i)); std::isfinite(v))
      largest = std::max(largest, v);
  return largest;
}

/// Whether no two elements differ by more than may be, for floats that the processor has: the usual case, quickly.
template <class T>
bool isWithin(std::span<const std::byte> got, std::span<const std::byte> wanted, int precision) {
  T largest = 0;
  const auto at = [](std::span<const std::byte> bytes, size_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  const size_t count = wanted.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(at(wanted, i)));
  if (!std::isfinite(largest)) return false;
  const T allowed = static_cast<T>(kUnits * unitAt(largest, precision));
  bool isRight = true;
  for (size_t i = 0; i < count; ++i) isRight &= std::fabs(at(got, i) - at(wanted, i)) <= allowed;
  return isRight;
}

}  // namespace

void fillWithData(std::span<std::byte> bytes, ElementType type, uint64_t number) {
  Random random{0x9E3779B97F4A7C15 * (2 * number + 1)};
  const auto unit = [&] {
    const double value = (static_cast<double>(random.next() >> 40) + 1) / (1 << 25);
    return random.next() % 2 == 0 ? value : -value;
  };
  switch (type) {
    case ElementType::F32: return fill<float>(bytes, [&] { return static_cast<float>(unit()); });
    case ElementType::F64: return fill<double>(bytes, unit);
    case ElementType::F16:  // signs, exponents of 1/4 to 1, any fraction
      return fill<uint16_t>(
          bytes, [&] { return static_cast<uint16_t>(0x3400 + random.next() % 0x800 + (random.next() % 2 << 15)); });
    case ElementType::BF16:
      return fill<uint16_t>(
          bytes, [&] { return static_cast<uint16_t>(0x3E80 + random.next() % 0x100 + (random.next() % 2 << 15)); });
    case ElementType::Bool: return fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random.next() % 2); });
    case ElementType::I16:
    case ElementType::U16: return fill<uint16_t>(bytes, [&] { return static_cast<uint16_t>(random.next() % 8); });
    case ElementType::I32:
    case ElementType::U32: return fill<uint32_t>(bytes, [&] { return static_cast<uint32_t>(random.next() % 8); });
    case ElementType::I64:
    case ElementType::U64: return fill<uint64_t>(bytes, [&] { return random.next() % 8; });
    default: return fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random.next() % 0x38); });
  }
}

double worstUnits(std::span<const std::byte> got, std::span<const std::byte> wanted, ElementType type) {
  if (!isFloat(type)) return 0;
  long double worst = 0;
  for (uint64_t i = 0; i < countOf(got, type); ++i) {
    const long double error = std::fabs(elementValue(type, got.data(), i) - elementValue(type, wanted.data(), i));
    if (std::isfinite(error)) worst = std::max(worst, error);
  }
  return worst == 0 ? 0 : static_cast<double>(worst / unitAt(largestOf(wanted, type), precisionOf(type)));
}

std::optional<std::string> firstDifference(std::span<const std::byte> got, std::span<const std::byte> wanted,
                                           ElementType type) {
  if (got.size() == wanted.size() && std::memcmp(got.data(), wanted.data(), got.size()) == 0) return std::nullopt;
  if (type == ElementType::F32 && isWithin<float>(got, wanted, 24)) return std::nullopt;
  if (type == ElementType::F64 && isWithin<double>(got, wanted, 53)) return std::nullopt;
  const int precision = precisionOf(type);
  long double worst = isFloat(type) ? kUnits * unitAt(largestOf(wanted, type), precision) : 0;  // what may be
  std::optional<std::string> found;
  for (uint64_t i = 0; i < countOf(got, type); ++i) {
    const long double a = elementValue(type, got.data(), i), b = elementValue(type, wanted.data(), i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const long double error = std::fabs(a - b);
    if (error <= worst) continue;
    worst = std::isfinite(error) ? error : worst;
    char ulp[64];
    std::snprintf(ulp, sizeof ulp, "%.3Lg", isFloat(type) && b != 0 ? error / unitAt(b, precision) : error);
    found = "element " + std::to_string(i) + " is " + elementText(type, got.data(), i) + ", not " +
            elementText(type, wanted.data(), i) + ": " + ulp + (isFloat(type) ? " ULP" : "") + " off";
    if (!std::isfinite(error)) break;
  }
  return found;
}

}  // namespace svod
