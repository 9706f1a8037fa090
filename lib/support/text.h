// Words of others in messages: cut where they are long, quoted where a shell would split them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace svod {

/// At most `longest` bytes of a text, then ".." when something is missing. No UTF-8 character is cut in two.
std::string shortened(std::string text, size_t longest = 100);

/// What people may be shown: characters that steer a terminal or turn the direction of writing, line ends, and bytes
/// that are not UTF-8 stand as escapes: \n, \x1b, \u{202e}. `lines`: the text has lines of its own, whose ends stay.
enum class Lines : uint8_t { Escaped, Kept };
std::string printable(std::string_view text, Lines lines = Lines::Escaped);

/// A word of a command line as a shell reads it: in quotes unless all its characters stand for themselves.
std::string shellWord(std::string_view word);

}  // namespace svod
