#include "frontend/lexer.h"

#include <charconv>
#include <cstdlib>

#include "frontend/other_spellings.h"
#include "support/utf8.h"

namespace svod {

namespace {
bool isDigit(char c) { return c >= '0' && c <= '9'; }
int hexDigit(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
}  // namespace

// Bytes of multi-byte UTF-8 characters count as letters.
bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool isNameChar(char c) { return isNameStart(c) || isDigit(c) || c == '.'; }

std::string trimComment(std::string text) {
  while (text.ends_with('\r') || text.ends_with(' ')) text.pop_back();
  return text;
}

tl::unexpected<Error> Lexer::fail(Position at, std::string message, std::string help) const {
  return svod::fail(Error(Diag::Syntax, std::move(message), std::move(help), {path_, at.line, at.column}));
}

void Lexer::advance() {
  position_.column = text_[at_] == '\n' ? 1 : position_.column + 1;
  position_.line += text_[at_] == '\n';
  ++at_;
}

Result<Token> Lexer::next() {
  SVOD_TRY(Token token, read());
  if (token.kind != TokenKind::Name && token.kind != TokenKind::String) return token;
  const std::optional<size_t> bad = firstNotUtf8(token.text);
  if (!bad) return token;
  if (!token.quoted) token.at.column += static_cast<int>(*bad);
  const std::string where = token.quoted ? ": byte " + std::to_string(*bad + 1) + " in quotes" : "";
  return fail(token.at, notUtf8Text(token.text, *bad) + where, "save the file as UTF-8");
}

Result<Token> Lexer::read() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r') advance();
  Token token;
  token.at = position_;
  if (at_ >= text_.size()) return token;
  char c = peek();
  size_t begin = at_;
  auto take = [&](TokenKind kind, size_t length) {
    token.kind = kind;
    for (size_t i = 0; i < length; ++i) advance();
    token.text = std::string(text_.substr(begin, length));
    return token;
  };
  if (c == '\n') return take(TokenKind::Newline, 1);
  if (c == '#') {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    Token comment = take(TokenKind::Comment, end - at_);
    comment.text = trimComment(std::move(comment.text));
    return comment;
  }
  if (isNameStart(c)) {
    size_t length = 1;
    while (isNameChar(peek(length))) ++length;
    return take(TokenKind::Name, length);
  }
  if (isDigit(c) || (c == '.' && isDigit(peek(1)))) return number(token);
  if (c == '"' || c == '`') return quoted(token, c);
  const bool isComparison = peek(1) == '=' && std::string_view("<>=!").find(c) != std::string_view::npos;
  if (isComparison || (c == '/' && peek(1) == '/')) return take(TokenKind::Symbol, 2);
  if (text_.substr(at_).starts_with("...")) return take(TokenKind::Symbol, 3);
  if (std::string_view("()[]{},:=<>+-*/%@~").find(c) != std::string_view::npos) return take(TokenKind::Symbol, 1);
  bool isPrintable = c > 32 && c < 127;
  const std::string_view here = spellingOfCharacter(c);
  return fail(position_, isPrintable ? "unexpected character '" + std::string(1, c) + "'" : "unexpected character",
              here.empty() ? "names with other characters stand in backquotes: `name`" : std::string(here));
}

Result<Token> Lexer::number(Token token) {
  size_t begin = at_;
  bool isHex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  bool isFloat = false;
  if (isHex) {
    advance(), advance();
    while (hexDigit(peek()) >= 0) advance();
  } else {
    while (isDigit(peek())) advance();
    if (peek() == '.') isFloat = true, advance();
    while (isDigit(peek())) advance();
    if (peek() == 'e' || peek() == 'E') {
      isFloat = true;
      advance();
      if (peek() == '+' || peek() == '-') advance();
      while (isDigit(peek())) advance();
    }
  }
  std::string_view text = text_.substr(begin, at_ - begin);
  if (isNameChar(peek())) return fail(token.at, "a number ends in a letter", "write names with a letter first");
  token.text = std::string(text);
  const char *first = text.data() + (isHex ? 2 : 0), *last = text.data() + text.size();
  if (isFloat) {
    token.kind = TokenKind::Float;
    auto [end, error] = std::from_chars(first, last, token.number);
    if (error == std::errc::result_out_of_range) token.number = std::strtod(token.text.c_str(), nullptr), end = last;
    if (end != last) return fail(token.at, "'" + token.text + "' is not a number", "write 1.5 or 1e-3");
    return token;
  }
  token.kind = TokenKind::Int;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(first, last, value, isHex ? 16 : 10);
  if (error != std::errc() || end != last)
    return fail(token.at, "'" + token.text + "' is not a 64-bit integer", "write it as a float: " + token.text + ".0");
  token.integer = static_cast<int64_t>(value);
  token.isBig = token.integer < 0;
  return token;
}

Result<Token> Lexer::quoted(Token token, char quote) {
  token.kind = quote == '"' ? TokenKind::String : TokenKind::Name;
  token.quoted = true;
  advance();
  while (peek() != quote) {
    if (at_ >= text_.size() || peek() == '\n')
      return fail(token.at, quote == '"' ? "a string does not end on its line" : "a name does not end on its line",
                  std::string("close it with ") + quote);
    char c = peek();
    Position at = position_;
    advance();
    if (c != '\\') {
      token.text += c;
      continue;
    }
    if (at_ >= text_.size()) continue;
    char escape = peek();
    advance();
    switch (escape) {
      case 'n': token.text += '\n'; break;
      case 't': token.text += '\t'; break;
      case 'r': token.text += '\r'; break;
      case '\\':
      case '"':
      case '`': token.text += escape; break;
      case 'x': {
        int high = hexDigit(peek()), low = hexDigit(peek(1));
        if (high < 0 || low < 0) return fail(at, "\\x needs two hexadecimal digits", "such as \\x41");
        token.text += static_cast<char>(high * 16 + low);
        advance(), advance();
        break;
      }
      default: return fail(at, "unknown escape", "use \\n \\t \\r \\\\ \\\" \\` or \\x41");
    }
  }
  advance();
  if (token.text.empty() && quote == '`') return fail(token.at, "a name is empty", "write a letter at least");
  return token;
}

}  // namespace svod
