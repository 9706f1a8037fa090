// The headers that C may include when svodc compiles it, as text in the program: no system has to have any.
#pragma once
#include <span>
#include <string_view>

namespace svod {

struct EmbeddedHeader {
  std::string_view name, text;
};

/// <math.h> and <string.h> of lib/toolchain/headers, and those of Clang that a freestanding C has.
std::span<const EmbeddedHeader> embeddedHeaders();

}  // namespace svod
