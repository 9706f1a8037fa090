// Recursive-descent parser of the text form. The grammar stands in docs/graph-format.md.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph_file.h"
#include "frontend/lexer.h"

namespace svod {

/// Reads one text, once. Errors are Diag::Syntax with line and column. Statements are parsed in text_reader.cpp,
/// expressions in text_expressions.cpp, subscripts in text_subscripts.cpp, with the tokens of text_tokens.cpp.
class TextParser {
 public:
  TextParser(std::string_view text, const std::string& path) : lexer_(text, path) {}
  Result<GraphFile> file();
  Result<GraphExpr> onlyExpr();

 private:
  Status advance();
  std::string meantBy(const std::string& word) const;
  bool isSymbol(std::string_view text) const { return token_.kind == TokenKind::Symbol && token_.text == text; }
  bool isWord(std::string_view text) const {
    return token_.kind == TokenKind::Name && !token_.quoted && token_.text == text;
  }
  bool endsLine() const {
    return token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment || token_.kind == TokenKind::End;
  }
  Result<bool> accept(std::string_view symbol);
  Status expect(std::string_view symbol, std::string_view where);
  Status expectWord(std::string_view word);
  tl::unexpected<Error> unexpected(const std::string& wanted, std::string help = {}) const;
  std::string_view otherSpelling() const;
  tl::unexpected<Error> failAt(Position at, std::string message, std::string help) const;

  Status header();
  Status statement(std::vector<Statement>& statements);
  Status keywordStatement(Statement& s, StatementKind kind);
  Status loopStatement(Statement& s);
  Status ifStatement(Statement& s);
  Status repeatStatement(Statement& s);
  Status defStatement(Statement& s);
  Status returnStatement(Statement& s);
  Status block(Statement& s, std::vector<Statement>& body, std::vector<std::string>& endComments);
  Status letStatement(Statement& s, NameAt first);
  Status endOfStatement(Statement& s);
  Result<NameAt> name();
  Result<int64_t> integer();
  Result<TypeExpr> type();
  Result<GraphExpr> expr(int depth);
  Result<GraphExpr> binary(int depth, int level);
  Result<GraphExpr> unary(int depth);
  Result<GraphExpr> primary(int depth);
  Result<GraphExpr> call(int depth, Token name);
  Status arguments(int depth, GraphExpr& call);
  /// Between the brackets of a subscript: a position, a range, or all axes that are not named.
  struct SubscriptEntry {
    enum class Kind : uint8_t { Position, Range, Others } kind = Kind::Position;
    bool hasStart = false, hasEnd = false;
    GraphExpr start, end;  // a position is `start`
    int64_t step = 1;
  };
  Result<SubscriptEntry> subscriptEntry(int depth);
  Result<GraphExpr> subscript(int depth, GraphExpr of);
  Result<std::vector<GraphExpr>> exprList(int depth, std::string_view close);

  Lexer lexer_;
  Token token_, last_;          // the one that is looked at, and the one before it
  Position division_{};         // of the last //, which other languages begin comments with
  std::vector<Position> open_;  // brackets; inside them, line ends are spaces and comments are moved out
  std::vector<std::string> comments_, innerComments_;
  size_t values_ = 0;
  int blocks_ = 0;  // open ones
};

}  // namespace svod
