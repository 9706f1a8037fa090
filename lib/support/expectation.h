// What a plan expects of the values of a run: integers that it was compiled for.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "support/result.h"

namespace svod {

/// The first half of `both` is what a run was given, the second half what it must be, element by element. `text` says
/// what these numbers are.
Status checkExpectation(std::string_view text, std::span<const int64_t> both);

/// Sizes a plan takes to be equal, where they are `a` and `b` with these values of the variables in them.
Status checkEqualSizes(std::string_view text, int64_t a, int64_t b, const std::map<std::string, int64_t>& variables);

}  // namespace svod
