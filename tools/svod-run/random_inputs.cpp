#include "random_inputs.h"

#include <algorithm>
#include <cstring>

#include "c_call.h"

namespace svod {

namespace {

/// SplitMix64: every seed is a good one.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

struct FloatForm {
  int fractionBits, bias;
  bool isSigned = true;
};

FloatForm formOf(ElementType type) {
  switch (type) {
    case ElementType::F16: return {10, 15};
    case ElementType::BF16: return {7, 127};
    case ElementType::F64: return {52, 1023};
    case ElementType::F4E2M1: return {1, 1};
    case ElementType::F8E4M3: return {3, 7};
    case ElementType::F8E4M3FNUZ: return {3, 8};
    case ElementType::F8E5M2: return {2, 15};
    case ElementType::F8E5M2FNUZ: return {2, 16};
    case ElementType::F8E8M0: return {0, 127, false};
    default: return {23, 127};
  }
}

/// The bits of one element. Those of positive floats grow with the value, so a range of bits is one of values.
uint64_t elementBits(ElementType type, Draw& draw) {
  const int bits = info(type).bits;
  if (!isFloat(type)) return draw.next() & (info(type).kind == ElementKind::Bool || bits < 4 ? 1 : 7);
  const FloatForm form = formOf(type);
  const uint64_t one = static_cast<uint64_t>(form.bias) << form.fractionBits;
  const uint64_t least = form.bias > 4 ? static_cast<uint64_t>(form.bias - 4) << form.fractionBits : 1;
  const uint64_t magnitude = least + draw.next() % (one - least + 1);
  return form.isSigned ? magnitude | (draw.next() & 1) << (bits - 1) : magnitude;
}

}  // namespace

Status chooseLeastSizes(const svod_plan* plan, svod_instance* instance, const std::vector<std::string>& given) {
  svod_variable variable = {};
  for (size_t i = 0; svod_plan_variable(plan, i, &variable) == 0; i++) {
    if (variable.fixed != 0 || std::ranges::find(given, variable.name) != given.end()) continue;
    const int64_t value = std::clamp<int64_t>(1, variable.min, variable.max);
    SVOD_CHECK(checked([&](svod_error* error) { return svod_set_variable(instance, i, value, error); }));
    svod_error error = {};
    int64_t found = 0;
    const bool isOpen = svod_get_variable(instance, i, &found, &error) != 0;
    // Other variables may lack a value still. Any other error says that a bound shape gives this one.
    if (isOpen && std::string_view(error.code) != "missing-input") svod_clear_variable(instance, i);
  }
  return {};
}

AlignedBytes randomElements(ElementType type, uint64_t bytes, uint64_t seed, uint64_t input) {
  Draw draw(seed * 0x9E3779B97F4A7C15 + input);
  AlignedBytes data(bytes);
  const int bits = info(type).bits;
  const uint64_t size = byteSize(type);
  for (uint64_t at = 0; at < bytes; at += size) {
    uint64_t element = elementBits(type, draw);
    for (int shift = bits; shift < 8; shift += bits) element |= elementBits(type, draw) << shift;  // those of a byte
    std::memcpy(&data[at], &element, size);
  }
  return data;
}

}  // namespace svod
