// The version of this project, recorded in plans and printed by the tools. CMakeLists.txt states the same.
#pragma once
#include <string_view>

namespace svod {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace svod
