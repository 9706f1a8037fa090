// The tokens of the text form, one ahead of the parser, and messages about them.
#include "frontend/other_spellings.h"
#include "frontend/text_parser.h"

namespace svod {

Status TextParser::advance() {
  if (isSymbol("//")) division_ = token_.at;
  last_ = std::move(token_);
  do {
    SVOD_TRY(token_, lexer_.next());
    if (!open_.empty() && token_.kind == TokenKind::Comment) innerComments_.push_back(token_.text);
  } while (!open_.empty() && (token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment));
  return {};
}

namespace {

std::string tokenText(const Token& t) {
  switch (t.kind) {
    case TokenKind::Newline:
    case TokenKind::Comment: return "the end of the line";
    case TokenKind::End: return "the end of the file";
    case TokenKind::String: return "a string";
    default: return "'" + t.text + "'";
  }
}

}  // namespace

tl::unexpected<Error> TextParser::failAt(Position at, std::string message, std::string help) const {
  if (help.empty()) help = "docs/graph-format.md shows the form of every line";
  return fail(Error(Diag::Syntax, std::move(message), std::move(help), {lexer_.path(), at.line, at.column}));
}

/// The help where the token that is looked at, or the one before it, is what another language writes.
std::string_view TextParser::otherSpelling() const {
  if (token_.kind == TokenKind::Name && !token_.quoted)
    if (const std::string_view here = spellingOfInfix(token_.text); !here.empty()) return here;
  if (last_.kind == TokenKind::Name && !last_.quoted)
    if (const std::string_view here = spellingOfPrefix(last_.text); !here.empty()) return here;
  const bool isBehindDivision = division_.line > 0 && division_.line == token_.at.line;
  const bool isBehindSlash = last_.kind == TokenKind::Symbol && last_.text == "/";
  if (isSymbol("/") || (isBehindSlash && isSymbol("*"))) return kBlockCommentSpelling;
  if (isSymbol("~")) return spellingOfCharacter('~');
  return isBehindDivision || isSymbol("//") ? kCommentSpelling : std::string_view();
}

tl::unexpected<Error> TextParser::unexpected(const std::string& wanted, std::string help) const {
  if (const std::string_view here = otherSpelling(); !here.empty()) help = here;
  if (!open_.empty() && open_.back().line < token_.at.line)
    help = "the bracket at line " + std::to_string(open_.back().line) + ", column " +
           std::to_string(open_.back().column) + " is still open";
  return failAt(token_.at, "expected " + wanted + ", found " + tokenText(token_), std::move(help));
}

Result<bool> TextParser::accept(std::string_view symbol) {
  if (!isSymbol(symbol)) return false;
  SVOD_CHECK(advance());
  return true;
}

Status TextParser::expect(std::string_view symbol, std::string_view where) {
  if (!isSymbol(symbol)) return unexpected("'" + std::string(symbol) + "' " + std::string(where));
  return advance();
}

Status TextParser::expectWord(std::string_view word) {
  if (!isWord(word)) return unexpected("'" + std::string(word) + "'");
  return advance();
}

Result<NameAt> TextParser::name() {
  if (token_.kind != TokenKind::Name) return unexpected("a name");
  NameAt found{token_.text, token_.at};
  SVOD_CHECK(advance());
  return found;
}

Result<int64_t> TextParser::integer() {
  SVOD_TRY(bool negative, accept("-"));
  if (token_.kind != TokenKind::Int || token_.isBig) return unexpected("an integer");
  int64_t value = negative ? -token_.integer : token_.integer;
  SVOD_CHECK(advance());
  return value;
}

}  // namespace svod
