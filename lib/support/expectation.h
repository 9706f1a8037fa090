// What a plan expects of the values of a run: integers that it was compiled for.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "support/result.h"

namespace svod {

/// The first half of `both` is what a run was given, the second half what it must be, element by element. `text` says
/// what these numbers are.
Status checkExpectation(std::string_view text, std::span<const int64_t> both);

}  // namespace svod
