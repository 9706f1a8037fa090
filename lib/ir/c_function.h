// Custom nodes whose function stands in a file of C.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace svod {

/// SOURCE::FUNCTION, the name of such a node; SOURCE is the file as the graph names it.
struct CFunctionName {
  std::string source, function;
  std::string text() const { return source + "::" + function; }
};

/// Whether C has it as a name.
inline bool isCName(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto isPart = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && isLetter(text[0]) && std::ranges::all_of(text, isPart);
}

inline std::optional<CFunctionName> cFunctionOf(std::string_view custom) {
  const size_t at = custom.rfind("::");
  if (at == custom.npos || !custom.substr(0, at).ends_with(".c")) return std::nullopt;
  return CFunctionName{std::string(custom.substr(0, at)), std::string(custom.substr(at + 2))};
}

}  // namespace svod
