// Random test data for candidates, and the comparison of what they compute.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "support/element_type.h"

namespace svod {

/// How far the worst float is off, in units of the last place of the largest value there is, of which firstDifference()
/// allows 256. 0 for integers.
double worstUnits(std::span<const std::byte> got, std::span<const std::byte> wanted, ElementType type);

/// Elements of ordinary size that `number` decides: floats between -1 and 1 (never 0), small integers from 0 on.
void fillWithData(std::span<std::byte> bytes, ElementType type, uint64_t number);

/// Integers must be equal. Floats may differ by 256 units of the last place of the largest value there is: opts add in
/// another order. What differs most, in units of the last place of its element; nothing where all is right.
std::optional<std::string> firstDifference(std::span<const std::byte> got, std::span<const std::byte> wanted,
                                           ElementType type);

}  // namespace svod
