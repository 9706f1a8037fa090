// Did-you-mean: the known name closest to an unknown one.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace svod {

/// The candidate with the fewest single-character edits from `name`, or "" when none is close enough to be a
/// typing mistake. Ties go to the earlier candidate.
std::string_view closestName(std::string_view name, std::span<const std::string_view> candidates);

/// "did you mean 'x'?" or `otherwise`.
std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates,
                       std::string_view otherwise = {});

/// The help for a name that is none of a few: "the choices are a, b or c", after what was probably meant.
std::string choicesFor(std::string_view name, std::span<const std::string_view> choices);

}  // namespace svod
