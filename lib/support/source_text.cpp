#include "support/source_text.h"

#include "support/text.h"
#include "support/utf8.h"

namespace svod {

namespace {

constexpr size_t kMostBefore = 60, kMostBehind = 60;  // bytes of a line that are shown on both sides of a place

std::string endOf(std::string_view text) {
  if (text.size() <= kMostBefore) return std::string(text);
  text.remove_prefix(text.size() - kMostBefore);
  while (!text.empty() && isInsideCharacter(text[0])) text.remove_prefix(1);
  return ".." + std::string(text);
}

}  // namespace

SourceText::SourceText(std::string text) : text_(std::move(text)), begins_{0} {
  for (size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1)) begins_.push_back(at + 1);
}

std::string_view SourceText::line(int number) const {
  const size_t index = static_cast<size_t>(number) - 1;
  if (number < 1 || index >= begins_.size()) return {};
  std::string_view rest = std::string_view(text_).substr(begins_[index]);
  rest = rest.substr(0, rest.find('\n'));
  return rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest;
}

SourceLoc SourceText::at(std::string file, int number, int column) const {
  SourceLoc place{std::move(file), number, column};
  const std::string_view text = line(number);
  const size_t at = static_cast<size_t>(column) - 1;
  if (column < 1 || at > text.size()) return place;
  place.before = endOf(text.substr(0, at));
  place.behind = shortened(std::string(text.substr(at, kMostBehind + 4)), kMostBehind);
  return place;
}

}  // namespace svod
