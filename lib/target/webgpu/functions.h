// Functions that texts call, for what WGSL lacks (an internal header of the room).
#pragma once
#include <string>
#include <string_view>

namespace svod::webgpu {

struct Function {
  std::string_view name, text;
};

/// Those that a text calls, and those that these call.
std::string functionsFor(std::string_view text);

}  // namespace svod::webgpu
