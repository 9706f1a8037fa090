#include "response_file.h"

#include "data/mapped_file.h"

namespace svod {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 26;
constexpr int kMostLevels = 16;

Result<std::vector<std::string>> splitWords(const std::string& text, const std::string& path) {
  std::vector<std::string> words;
  bool isInside = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      isInside = false;
      continue;
    }
    if (!isInside) words.emplace_back();
    isInside = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0')
    return fail(Diag::Usage, "'" + path + "' ends inside of a text that begins with " + quote,
                "end it with another " + std::string(1, quote) + ", or write \\" + quote);
  return words;
}

Status append(const std::vector<std::string>& words, int level, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    if (word.size() < 2 || word[0] != '@') {
      all.push_back(word);
      continue;
    }
    const std::string path = word.substr(1);
    if (level == kMostLevels)
      return fail(Diag::Usage, "files of words name each other, '" + path + "' among them", "such as @a inside of a");
    SVOD_TRY(const std::string text, readWholeFile(path, kMostBytes));
    SVOD_TRY(const std::vector<std::string> inner, splitWords(text, path));
    SVOD_CHECK(append(inner, level + 1, all));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> withResponseFiles(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  SVOD_CHECK(append(words, 0, all));
  return all;
}

}  // namespace svod
