#include "support/suggest.h"

#include <algorithm>
#include <vector>

namespace svod {

namespace {

// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string_view closestName(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kLongestName = 64;  // a longer one is no typing mistake of anything
  if (name.size() > kLongestName) return {};
  size_t best = name.size() <= 3 ? 2 : 1 + name.size() / 3;  // one more than the edits allowed
  std::string_view found;
  for (std::string_view candidate : candidates) {
    size_t lengths = std::max(candidate.size(), name.size()) - std::min(candidate.size(), name.size());
    if (lengths >= best) continue;
    if (size_t distance = editDistance(name, candidate); distance < best) best = distance, found = candidate;
  }
  return found;
}

std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates,
                       std::string_view otherwise) {
  std::string_view found = closestName(name, candidates);
  return found.empty() ? std::string(otherwise) : "did you mean '" + std::string(found) + "'?";
}

std::string choicesFor(std::string_view name, std::span<const std::string_view> choices) {
  std::string text = didYouMean(name, choices);
  const std::string start = choices.size() == 1 ? "he only choice is " : "he choices are ";
  text += (text.empty() ? "t" : " T") + start;
  for (size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + std::string(choices[i]);
  return text;
}

}  // namespace svod
