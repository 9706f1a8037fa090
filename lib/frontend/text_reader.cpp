// Recursive-descent parser of the text form. The grammar stands in docs/graph-format.md.
#include <algorithm>
#include <cmath>
#include <span>

#include "frontend/graph_file.h"
#include "frontend/lexer.h"
#include "support/suggest.h"

namespace svod {

namespace {

struct Keyword {
  std::string_view word;
  StatementKind kind;
};
constexpr Keyword kKeywords[] = {{"var", StatementKind::Var},       {"input", StatementKind::Input},
                                 {"weight", StatementKind::Weight}, {"state", StatementKind::State},
                                 {"temp", StatementKind::Temp},     {"assign", StatementKind::Assign},
                                 {"output", StatementKind::Output}, {"loop", StatementKind::Loop},
                                 {"if", StatementKind::If}};

std::vector<std::string_view> keywords() {
  std::vector<std::string_view> words;
  for (const Keyword& k : kKeywords) words.push_back(k.word);
  return words;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : lexer_(text, path) {}
  Result<GraphFile> file();
  Result<GraphExpr> onlyExpr();

 private:
  Status advance();
  bool isSymbol(std::string_view text) const {
    return token_.kind == TokenKind::Symbol && token_.text == text;
  }
  bool isWord(std::string_view text) const {
    return token_.kind == TokenKind::Name && !token_.quoted && token_.text == text;
  }
  bool endsLine() const {
    return token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment ||
           token_.kind == TokenKind::End;
  }
  Result<bool> accept(std::string_view symbol);
  Status expect(std::string_view symbol, std::string_view where);
  Status expectWord(std::string_view word);
  tl::unexpected<Error> unexpected(const std::string& wanted, std::string help = {}) const;
  tl::unexpected<Error> failAt(Position at, std::string message, std::string help) const;

  Status header();
  Status statement(std::vector<Statement>& statements);
  Status keywordStatement(Statement& s, StatementKind kind);
  Status loopStatement(Statement& s);
  Status ifStatement(Statement& s);
  Status block(Statement& s, std::vector<Statement>& body, std::vector<std::string>& endComments);
  Status letStatement(Statement& s, NameAt first);
  Status endOfStatement(Statement& s);
  Result<NameAt> name();
  Result<int64_t> integer();
  Result<TypeExpr> type();
  Result<GraphExpr> expr(int depth) { return binary(depth, 0); }
  Result<GraphExpr> binary(int depth, int level);
  Result<GraphExpr> unary(int depth);
  Result<GraphExpr> primary(int depth);
  Result<GraphExpr> call(int depth, Token name);
  Status arguments(int depth, GraphExpr& call);
  Result<std::vector<GraphExpr>> exprList(int depth, std::string_view close);

  Lexer lexer_;
  Token token_;
  std::vector<Position> open_;  // brackets; inside them, line ends are spaces and comments are moved out
  std::vector<std::string> comments_, innerComments_;
  size_t values_ = 0;
  int blocks_ = 0;  // open ones
};

Status Parser::advance() {
  do {
    SVOD_TRY(token_, lexer_.next());
    if (!open_.empty() && token_.kind == TokenKind::Comment) innerComments_.push_back(token_.text);
  } while (!open_.empty() && (token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment));
  return {};
}

std::string tokenText(const Token& t) {
  switch (t.kind) {
    case TokenKind::Newline:
    case TokenKind::Comment:
      return "the end of the line";
    case TokenKind::End:
      return "the end of the file";
    case TokenKind::String:
      return "a string";
    default:
      return "'" + t.text + "'";
  }
}

tl::unexpected<Error> Parser::failAt(Position at, std::string message, std::string help) const {
  return fail(
      Error{Diag::Syntax, std::move(message), std::move(help), {lexer_.path(), at.line, at.column}, {}});
}

tl::unexpected<Error> Parser::unexpected(const std::string& wanted, std::string help) const {
  if (!open_.empty() && open_.back().line < token_.at.line)
    help = "the bracket at line " + std::to_string(open_.back().line) + ", column " +
           std::to_string(open_.back().column) + " is still open";
  return failAt(token_.at, "expected " + wanted + ", found " + tokenText(token_), std::move(help));
}

Result<bool> Parser::accept(std::string_view symbol) {
  if (!isSymbol(symbol)) return false;
  SVOD_CHECK(advance());
  return true;
}

Status Parser::expect(std::string_view symbol, std::string_view where) {
  if (!isSymbol(symbol)) return unexpected("'" + std::string(symbol) + "' " + std::string(where));
  return advance();
}

Status Parser::expectWord(std::string_view word) {
  if (!isWord(word)) return unexpected("'" + std::string(word) + "'");
  return advance();
}

// --- Statements

Result<GraphFile> Parser::file() {
  GraphFile file;
  file.path = lexer_.path();
  SVOD_CHECK(advance());
  while (token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment) SVOD_CHECK(statement(file.statements));
  SVOD_CHECK(header());
  while (token_.kind != TokenKind::End) SVOD_CHECK(statement(file.statements));
  file.comments = std::move(comments_);
  return file;
}

Status Parser::header() {
  std::string help = "the first line is: svod " + std::to_string(kGraphVersion);
  if (!isWord("svod")) return unexpected("'svod " + std::to_string(kGraphVersion) + "'", help);
  SVOD_CHECK(advance());
  if (token_.kind != TokenKind::Int) return unexpected("the format version", help);
  if (token_.integer != kGraphVersion)
    return fail(Error{Diag::Unsupported,
                      "format version " + token_.text + " is not known",
                      help,
                      {lexer_.path(), token_.at.line, token_.at.column},
                      {}});
  SVOD_CHECK(advance());
  Statement line;
  SVOD_CHECK(endOfStatement(line));
  if (!line.trailingComment.empty()) comments_.push_back(line.trailingComment);
  return {};
}

// One line: a statement, a comment or nothing.
Status Parser::statement(std::vector<Statement>& statements) {
  if (token_.kind == TokenKind::Newline) {
    comments_.emplace_back();
    return advance();
  }
  if (token_.kind == TokenKind::Comment) {
    comments_.push_back(token_.text);
    SVOD_CHECK(advance());
    return token_.kind == TokenKind::Newline ? advance() : Status();
  }
  Statement s;
  s.at = token_.at;
  s.comments = std::exchange(comments_, {});
  Token first = token_;
  SVOD_TRY(NameAt begin, name());
  bool isLet = isSymbol("=") || isSymbol(",") || isSymbol(":");
  if (isLet) {
    SVOD_CHECK(letStatement(s, begin));
  } else {
    auto known = std::ranges::find_if(kKeywords, [&](const Keyword& k) { return !first.quoted && first.text == k.word; });
    if (known == std::end(kKeywords))
      return failAt(first.at, "'" + first.text + "' does not start a statement",
                    didYouMean(first.text, keywords(),
                               "write NAME = op(..), or var, input, weight, state, temp, assign, output, loop, if"));
    SVOD_CHECK(keywordStatement(s, known->kind));
  }
  bool isBlock = s.kind == StatementKind::Loop || s.kind == StatementKind::If;
  if (isBlock && token_.kind == TokenKind::Comment) {  // behind the }: it moves in front of the next statement
    comments_.push_back(token_.text);
    SVOD_CHECK(advance());
  }
  SVOD_CHECK(endOfStatement(s));
  statements.push_back(std::move(s));
  return {};
}

Status Parser::endOfStatement(Statement& s) {
  if (!endsLine())
    return unexpected("the end of the line", "one statement per line; lines go on inside brackets");
  for (std::string& comment : innerComments_) s.comments.push_back(std::move(comment));
  innerComments_.clear();
  if (token_.kind == TokenKind::Comment) {
    s.trailingComment = token_.text;
    SVOD_CHECK(advance());
  }
  return token_.kind == TokenKind::Newline ? advance() : Status();
}

Status Parser::keywordStatement(Statement& s, StatementKind kind) {
  s.kind = kind;
  if (kind == StatementKind::Loop) return loopStatement(s);
  if (kind == StatementKind::If) return ifStatement(s);
  if (kind == StatementKind::Assign) {
    SVOD_TRY(s.target, expr(1));
    SVOD_CHECK(expect("=", "after the target"));
    SVOD_TRY(s.value, expr(1));
    s.hasValue = true;
    return {};
  }
  SVOD_TRY(NameAt declared, name());
  s.names.push_back(std::move(declared));
  if (kind == StatementKind::Var) {
    SVOD_CHECK(expectWord("in"));
    SVOD_CHECK(expect("[", "before the bounds"));
    SVOD_TRY(s.min, integer());
    SVOD_CHECK(expect(",", "between the bounds"));
    SVOD_TRY(s.max, integer());
    SVOD_CHECK(expect("]", "after the bounds"));
  } else if (kind != StatementKind::Output && (kind != StatementKind::Temp || isSymbol(":"))) {
    SVOD_CHECK(expect(":", "before the type"));
    SVOD_TRY(s.type, type());
    s.hasType = true;
  }
  bool needsValue = kind == StatementKind::Weight || kind == StatementKind::Temp;
  if (kind == StatementKind::Input) return {};
  if (!needsValue && !isSymbol("=")) return {};
  SVOD_CHECK(expect("=", "before the value"));
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  if ((kind == StatementKind::Weight || kind == StatementKind::State) && !isData(s.value))
    return failAt(s.value.at, writeGraphExpr(s.value).substr(0, 60) + " is no data",
                  "use \"FILE.npy\", \"FILE.safetensors:NAME\", a number, a list, zeros or ones");
  return {};
}

// loop NAME < count [while condition] [, unroll=true] { .. }
Status Parser::loopStatement(Statement& s) {
  SVOD_TRY(NameAt counter, name());
  s.names.push_back(std::move(counter));
  SVOD_CHECK(expect("<", "between the counter and the count"));
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  if (isWord("while")) {
    SVOD_CHECK(advance());
    SVOD_TRY(s.condition, expr(1));
    s.hasCondition = true;
  }
  if (isSymbol(",")) {
    SVOD_CHECK(advance());
    SVOD_CHECK(expectWord("unroll"));
    SVOD_CHECK(expect("=", "behind unroll"));
    if (!isWord("true") && !isWord("false")) return unexpected("true or false");
    s.unroll = isWord("true");
    SVOD_CHECK(advance());
  }
  return block(s, s.body, s.bodyComments);
}

// if condition { .. } [else { .. }]
Status Parser::ifStatement(Statement& s) {
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  SVOD_CHECK(block(s, s.body, s.bodyComments));
  if (!isWord("else")) return {};
  SVOD_CHECK(advance());
  s.hasOtherwise = true;
  return block(s, s.otherwise, s.otherwiseComments);
}

// Statements on lines of their own, up to the closing brace.
Status Parser::block(Statement& s, std::vector<Statement>& body, std::vector<std::string>& endComments) {
  Position at = token_.at;
  SVOD_CHECK(expect("{", "before the body"));
  if (++blocks_ > kMaxLoopDepth) return failAt(at, "loops and branches are nested too deeply", "at most 16 levels");
  for (std::string& comment : innerComments_) s.comments.push_back(std::move(comment));
  innerComments_.clear();
  if (token_.kind == TokenKind::Comment) {
    if (s.trailingComment.empty()) {
      s.trailingComment = token_.text;
    } else {
      comments_.push_back(token_.text);
    }
    SVOD_CHECK(advance());
  }
  if (token_.kind != TokenKind::Newline) return unexpected("the end of the line", "statements of a body stand on their own lines");
  SVOD_CHECK(advance());
  while (!isSymbol("}")) {
    if (token_.kind == TokenKind::End)
      return unexpected("'}'", "the body at line " + std::to_string(at.line) + " is still open");
    SVOD_CHECK(statement(body));
  }
  endComments = std::exchange(comments_, {});
  --blocks_;
  return advance();
}

Status Parser::letStatement(Statement& s, NameAt first) {
  s.kind = StatementKind::Let;
  s.names.push_back(std::move(first));
  while (isSymbol(",")) {
    SVOD_CHECK(advance());
    SVOD_TRY(NameAt next, name());
    s.names.push_back(std::move(next));
  }
  if (isSymbol(":")) {
    SVOD_CHECK(advance());
    SVOD_TRY(s.type, type());
    s.hasType = true;
  }
  SVOD_CHECK(expect("=", "after the name"));
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  return {};
}

// --- Parts of statements

Result<NameAt> Parser::name() {
  if (token_.kind != TokenKind::Name) return unexpected("a name");
  NameAt found{token_.text, token_.at};
  SVOD_CHECK(advance());
  return found;
}

Result<int64_t> Parser::integer() {
  SVOD_TRY(bool negative, accept("-"));
  if (token_.kind != TokenKind::Int || token_.isBig) return unexpected("an integer");
  int64_t value = negative ? -token_.integer : token_.integer;
  SVOD_CHECK(advance());
  return value;
}

Result<TypeExpr> Parser::type() {
  TypeExpr result;
  result.at = token_.at;
  SVOD_TRY(NameAt dtype, name());
  result.dtype = std::move(dtype.text);
  if (!isSymbol("[")) return result;
  SVOD_TRY(result.dims, exprList(1, "]"));
  return result;
}

// --- Expressions

Result<std::vector<GraphExpr>> Parser::exprList(int depth, std::string_view close) {
  std::vector<GraphExpr> items;
  open_.push_back(token_.at);
  SVOD_CHECK(advance());
  while (!isSymbol(close)) {
    SVOD_TRY(GraphExpr item, expr(depth + 1));
    items.push_back(std::move(item));
    if (isSymbol(close)) break;
    SVOD_CHECK(expect(",", "or '" + std::string(close) + "' after a list entry"));
  }
  open_.pop_back();
  SVOD_CHECK(advance());
  return items;
}

constexpr std::string_view kSums[] = {"+", "-"};
constexpr std::string_view kProducts[] = {"*", "/", "//", "%"};

Result<GraphExpr> Parser::binary(int depth, int level) {
  if (level == 2) return unary(depth);
  std::span<const std::string_view> symbols =
      level == 0 ? std::span<const std::string_view>(kSums) : kProducts;
  SVOD_TRY(GraphExpr left, binary(depth, level + 1));
  for (;;) {
    std::string_view symbol;
    for (std::string_view s : symbols)
      if (isSymbol(s)) symbol = s;
    if (symbol.empty()) return left;
    Position at = token_.at;
    SVOD_CHECK(advance());
    SVOD_TRY(GraphExpr right, binary(depth, level + 1));
    std::vector<GraphExpr> sides;
    sides.push_back(std::move(left));
    sides.push_back(std::move(right));
    left = GraphExpr::call(std::string(symbol), std::move(sides));
    left.at = at;
    if (left.depth + depth > kMaxDepth)
      return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  }
}

Result<GraphExpr> Parser::unary(int depth) {
  Position at = token_.at;
  SVOD_TRY(bool negative, accept("-"));
  if (!negative) return primary(depth);
  bool isNumber = token_.kind == TokenKind::Int || token_.kind == TokenKind::Float || isWord("inf");
  if (depth >= kMaxDepth)
    return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  SVOD_TRY(GraphExpr operand, unary(depth + 1));
  if (isNumber && operand.kind == ExprKind::Int && (!operand.isBig || operand.integer == INT64_MIN)) {
    operand.integer = static_cast<int64_t>(-static_cast<uint64_t>(operand.integer));
    operand.isBig = false;
  } else if (isNumber && operand.kind == ExprKind::Float) {
    operand.number = -operand.number;
  } else {
    std::vector<GraphExpr> operands;
    operands.push_back(std::move(operand));
    operand = GraphExpr::call("-", std::move(operands));
  }
  operand.at = at;
  return operand;
}

Result<GraphExpr> Parser::primary(int depth) {
  if (depth >= kMaxDepth)
    return failAt(token_.at, "an expression is nested too deeply", "name parts of it on lines of their own");
  if (++values_ > kMaxValues)
    return failAt(token_.at, "the file holds more than 2^21 values",
                  "put data into a .npy or .safetensors file");
  Token token = token_;
  GraphExpr result;
  if (token.kind == TokenKind::Name) {
    SVOD_CHECK(advance());
    if (isSymbol("(")) return call(depth, std::move(token));
    if (!token.quoted && (token.text == "true" || token.text == "false")) {
      result = GraphExpr::ofBool(token.text == "true");
    } else if (!token.quoted && (token.text == "inf" || token.text == "nan")) {
      result = GraphExpr::ofFloat(token.text == "inf" ? HUGE_VAL : NAN);
    } else {
      result = GraphExpr::name(std::move(token.text));
    }
  } else if (token.kind == TokenKind::Int) {
    result = GraphExpr::ofInt(token.integer);
    result.isBig = token.isBig;
    SVOD_CHECK(advance());
  } else if (token.kind == TokenKind::Float) {
    result = GraphExpr::ofFloat(token.number);
    SVOD_CHECK(advance());
  } else if (token.kind == TokenKind::String) {
    result = GraphExpr::string(std::move(token.text));
    SVOD_CHECK(advance());
  } else if (isSymbol("[")) {
    SVOD_TRY(std::vector<GraphExpr> items, exprList(depth, "]"));
    result = GraphExpr::list(std::move(items));
  } else if (isSymbol("(")) {
    open_.push_back(token_.at);
    SVOD_CHECK(advance());
    SVOD_TRY(result, expr(depth + 1));
    open_.pop_back();
    return expect(")", "to close the bracket").map([&] { return std::move(result); });
  } else {
    return unexpected("a value", "a name, a number, a list or op(..)");
  }
  result.at = token.at;
  return result;
}

Result<GraphExpr> Parser::call(int depth, Token name) {
  GraphExpr result = GraphExpr::call(std::move(name.text), {});
  result.at = name.at;
  open_.push_back(token_.at);
  SVOD_CHECK(advance());
  SVOD_CHECK(arguments(depth, result));
  open_.pop_back();
  SVOD_CHECK(advance());
  return result;
}

// Operands, then attributes as name=value, up to the closing bracket.
Status Parser::arguments(int depth, GraphExpr& call) {
  while (!isSymbol(")")) {
    Position at = token_.at;
    bool mayBeAttribute = token_.kind == TokenKind::Name;
    SVOD_TRY(GraphExpr value, expr(depth + 1));
    if (isSymbol("=")) {
      if (!mayBeAttribute || value.kind != ExprKind::Name)
        return unexpected("',' or ')'", "attributes are written name=value");
      SVOD_CHECK(advance());
      std::string name = std::move(value.text);
      for (const Argument& a : call.attributes)
        if (a.name == name) return failAt(at, "attribute '" + name + "' is given twice", "keep one of them");
      if (call.attributes.size() >= kMaxAttributes)
        return failAt(at, "a call has more than 64 attributes", "no op takes that many");
      SVOD_TRY(value, expr(depth + 1));
      call.depth = std::max(call.depth, value.depth + 1);
      call.attributes.push_back({std::move(name), std::move(value), at});
    } else if (!call.attributes.empty()) {
      return failAt(at, "an operand stands behind an attribute", "operands come first");
    } else {
      call.depth = std::max(call.depth, value.depth + 1);
      call.items.push_back(std::move(value));
    }
    if (isSymbol(")")) break;
    SVOD_CHECK(expect(",", "or ')' after an argument"));
  }
  return {};
}

Result<GraphExpr> Parser::onlyExpr() {
  SVOD_CHECK(advance());
  SVOD_TRY(GraphExpr result, expr(1));
  if (token_.kind != TokenKind::End) return unexpected("the end of the expression");
  return result;
}

}  // namespace

Result<GraphFile> parseGraphText(std::string_view text, const std::string& path) {
  return Parser(text, path).file();
}
Result<GraphExpr> parseGraphExpr(std::string_view text, const std::string& path) {
  return Parser(text, path).onlyExpr();
}

}  // namespace svod
