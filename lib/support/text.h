// Words of others in messages: cut where they are long, quoted where a shell would split them.
#pragma once
#include <string>
#include <string_view>

namespace svod {

/// At most `longest` bytes of a text, then ".." when something is missing. No UTF-8 character is cut in two.
std::string shortened(std::string text, size_t longest = 100);

/// A word of a command line as a shell reads it: in quotes unless all its characters stand for themselves.
std::string shellWord(std::string_view word);

}  // namespace svod
