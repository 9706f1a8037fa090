#include "target/webgpu/values.h"

#include "target/webgpu/op_text.h"

namespace svod::webgpu {

// Elements are fewer than 2^32: memories are smaller than that.
std::string Values::element(UOp index, int lane) const {
  const auto [at, constant] = placeOf(index, lane);
  const std::string number = std::to_string(std::abs(constant)) + "u";
  if (at.empty()) return number;
  const std::string text = isPair(behindAliases(index).dtype()) ? at + ".x" : "u32(" + at + ")";
  return constant == 0 ? text : text + (constant < 0 ? " - " : " + ") + number;
}

std::string Values::literal(const Scalar& value) const { return webgpu::literal(value); }

std::string Values::larger(DType dtype, const std::string& text, int more) const {
  if (isPair(dtype)) return "svod_add(" + text + ", vec2u(" + std::to_string(more) + "u, 0u))";
  return "(" + text + " + " + std::to_string(more) + ")";
}

}  // namespace svod::webgpu
