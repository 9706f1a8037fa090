// The numbers that decisions about a graph take for granted, before there are loops: by name, from parameters.def.
#pragma once
#include <cstdint>
#include <span>

#include "support/parameter.h"

namespace svod {

#define PARAMETER(type, name, value, what, from) inline constexpr type name = value;
namespace parameters {
#include "tensor/parameters.def"
}  // namespace parameters
#undef PARAMETER

std::span<const ParameterInfo> graphParameters();

}  // namespace svod
