#include "support/says.h"

#include <charconv>

namespace svod {

void Part::addTo(std::string& text) const {
  char digits[20];
  if (kind_ == Kind::Negative) text += '-';
  text += kind_ == Kind::Text
              ? std::string_view(text_, size_)
              : std::string_view(digits, std::to_chars(digits, digits + sizeof digits, magnitude_).ptr - digits);
}

[[gnu::noinline]] std::string says(std::initializer_list<Part> parts) {
  std::string text;
  for (const Part& part : parts) part.addTo(text);
  return text;
}

}  // namespace svod
