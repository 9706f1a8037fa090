// What a plan expects of the values of a run: integers that it was compiled for.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/result.h"

namespace svod {

enum class ExpectationKind : uint8_t {
#define EXPECTATION(name, text, diag, says, help) name,
#include "support/expectations.def"
#undef EXPECTATION
};

/// As files have it.
std::string_view toText(ExpectationKind kind);
std::optional<ExpectationKind> expectationKind(std::string_view text);

/// The first half of `both` is what a run was given, the second half what it must be, element by element. `text` says
/// what these numbers are, or what is wrong where they differ.
Status checkExpectation(ExpectationKind kind, std::string_view text, std::span<const int64_t> both);

/// Sizes a plan takes to be equal, where they are `a` and `b` with these values of the variables in them.
Status checkEqualSizes(std::string_view text, int64_t a, int64_t b, const std::map<std::string, int64_t>& variables);

}  // namespace svod
