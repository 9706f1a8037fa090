// The numbers that costs and strategies take for granted, by name, from parameters.def.
#pragma once
#include <cstdint>
#include <span>

#include "support/parameter.h"

namespace svod {

#define PARAMETER(type, name, value, what, from) inline constexpr type name = value;
namespace parameters {
#include "cost/parameters.def"
}  // namespace parameters
#undef PARAMETER

std::span<const ParameterInfo> allParameters();

}  // namespace svod
