// Single elements of an array as numbers and as text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/element_type.h"

namespace svod {

/// Element `i` of `memory` (any alignment). On processors with 64-bit long double mantissas every value is exact.
long double elementValue(ElementType type, const std::byte* memory, uint64_t i);

/// "3", "true", "-0.25", "nan": integers exactly, floats with as many digits as tell them apart from others.
std::string elementText(ElementType type, const std::byte* memory, uint64_t i);

}  // namespace svod
