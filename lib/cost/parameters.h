// The numbers that costs and strategies take for granted, by name, from parameters.def.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace svod {

#define PARAMETER(type, name, value, what, from) inline constexpr type name = value;
namespace parameters {
#include "cost/parameters.def"
}  // namespace parameters
#undef PARAMETER

enum class Origin : uint8_t { Measured, Machine, Judged };

struct ParameterInfo {
  std::string_view name;
  double value;
  std::string_view what;
  Origin origin;
};
std::span<const ParameterInfo> allParameters();
std::string_view toText(Origin origin);

}  // namespace svod
