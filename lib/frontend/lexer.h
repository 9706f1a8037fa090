// Tokens of the text form.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph_file.h"

namespace svod {

enum class TokenKind : uint8_t { Name, Int, Float, String, Symbol, Newline, Comment, End };

struct Token {
  TokenKind kind = TokenKind::End;
  bool quoted = false;  // a name in backquotes, which is never a keyword
  bool isBig = false;   // an Int above the i64 range
  Position at;
  int64_t integer = 0;
  double number = 0;
  std::string text;  // name, string contents, symbol, or comment with its #
};

/// Splits text into tokens one at a time. The text must outlive the lexer.
class Lexer {
 public:
  Lexer(std::string_view text, std::string path) : text_(text), path_(std::move(path)) {}
  /// Names and strings are UTF-8.
  Result<Token> next();
  const std::string& path() const { return path_; }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance();
  Result<Token> read();
  Result<Token> number(Token token);
  Result<Token> quoted(Token token, char quote);
  tl::unexpected<Error> fail(Position at, std::string message, std::string help = {}) const;

  std::string_view text_;
  std::string path_;
  size_t at_ = 0;
  Position position_{1, 1};
};

/// Without spaces at the end.
std::string trimComment(std::string text);
bool isNameStart(char c);
bool isNameChar(char c);

}  // namespace svod
