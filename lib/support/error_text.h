// An error as text for people.
#pragma once
#include <string>
#include <string_view>

#include "support/result.h"

namespace svod {

/// As toText(error), with another word in place of `error:`. Every part is printable (support/text.h): no name of a
/// model ends a line or reaches the terminal as anything but letters.
std::string toText(const Error& error, std::string_view severity);

}  // namespace svod
