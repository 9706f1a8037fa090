// A place in a line of `.uop` text, and the words found there.
#pragma once
#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

#include "ir/text.h"

namespace svod {

/// Reads one line from the left. Errors carry its number and the column.
class LineCursor {
 protected:
  LineCursor(std::string_view line, int number) : line_(line), number_(number) {}

  template <class Enum, size_t N>
  Result<Enum> keyword(const Enum (&values)[N], std::string_view what) {
    skipSpace();
    size_t start = at_;
    std::string_view text = word();
    std::string known;
    for (Enum value : values) {
      if (toText(value) == text) return value;
      known += (known.empty() ? "" : ", ") + std::string(toText(value));
    }
    return errorAt(start, Diag::Syntax, "'" + std::string(text) + "' is not " + std::string(what),
                   "use one of " + known);
  }

  Result<DType> dtypeWord() {
    size_t start = at_;
    std::string_view text = word();
    if (std::optional<DType> dtype = dtypeFromText(text)) return *dtype;
    return errorAt(start, Diag::UnknownDType, "unknown dtype '" + std::string(text) + "'", "see lib/ir/dtypes.def");
  }

  template <class Int>
  Result<Int> integer() {
    skipSpace();
    size_t start = at_;
    std::string_view text = word();
    Int value = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && stop == text.data() + text.size() && !text.empty()) return value;
    return errorAt(start, Diag::Syntax, "expected an integer, got '" + std::string(text) + "'",
                   "write a decimal number");
  }

  Result<size_t> reference() {
    SVOD_CHECK(expect('%'));
    return integer<size_t>();
  }

  Result<std::string> quotedName() {
    SVOD_CHECK(expect('"'));
    std::string out;
    while (at_ < line_.size() && line_[at_] != '"') {
      if (line_[at_] != '\\') {
        out += line_[at_++];
        continue;
      }
      SVOD_TRY(char c, escape());
      out += c;
    }
    SVOD_CHECK(expect('"'));
    return out;
  }

  Result<char> escape() {
    size_t start = at_++;
    char c = at_ < line_.size() ? line_[at_++] : '\0';
    if (c == '"' || c == '\\') return c;
    unsigned value = 0;
    if (c == 'x' && at_ + 2 <= line_.size()) {
      auto [stop, error] = std::from_chars(line_.data() + at_, line_.data() + at_ + 2, value, 16);
      if (error == std::errc() && stop == line_.data() + at_ + 2) return at_ += 2, static_cast<char>(value);
    }
    return errorAt(start, Diag::Syntax, "unknown escape in a name", "use \\\", \\\\ or \\xHH");
  }

  // Letters, digits and what numbers are written with.
  std::string_view word() {
    size_t start = at_;
    while (at_ < line_.size()) {
      auto c = static_cast<unsigned char>(line_[at_]);
      if (!std::isalnum(c) && c != '_' && c != '.' && c != '-' && c != '+') break;
      ++at_;
    }
    return line_.substr(start, at_ - start);
  }

  void skipSpace() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
  }
  char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool atEnd() const { return at_ >= line_.size() || line_[at_] == ';'; }
  size_t contentEnd() const { return std::min(line_.find(';', at_), line_.size()); }

  bool accept(char c) {
    skipSpace();
    if (peek() != c || at_ >= line_.size()) return false;
    ++at_;
    return true;
  }
  Status expect(char c) {
    if (accept(c)) return {};
    return errorAt(at_, Diag::Syntax, std::string("expected '") + c + "'", "see docs/uop.md");
  }
  Status expectEnd() {
    skipSpace();
    if (atEnd()) return {};
    return errorAt(at_, Diag::Syntax, "unexpected text at the end of the line",
                   "one node per line; comments start with ;");
  }

  tl::unexpected<Error> errorAt(size_t column, Diag diag, std::string message, std::string help) const {
    return fail(Error(diag, std::move(message), std::move(help), {"", number_, static_cast<int>(column) + 1}));
  }

  std::string_view line_;
  int number_;
  size_t at_ = 0;
};

}  // namespace svod
