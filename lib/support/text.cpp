#include "support/text.h"

namespace svod {

std::string shortened(std::string text, size_t longest) {
  if (text.size() <= longest) return text;
  auto isInside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  while (longest > 0 && isInside(longest)) --longest;
  text.resize(longest);
  text += "..";
  return text;
}

std::string shellWord(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  text += "'";
  return text;
}

}  // namespace svod
