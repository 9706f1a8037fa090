// Statements of the text form.
#include <algorithm>

#include "frontend/other_spellings.h"
#include "frontend/text_parser.h"
#include "support/suggest.h"

namespace svod {

namespace {

struct Keyword {
  std::string_view word;
  StatementKind kind;
};
constexpr Keyword kKeywords[] = {
    {"var", StatementKind::Var},       {"input", StatementKind::Input}, {"weight", StatementKind::Weight},
    {"state", StatementKind::State},   {"temp", StatementKind::Temp},   {"assign", StatementKind::Assign},
    {"output", StatementKind::Output}, {"loop", StatementKind::Loop},   {"if", StatementKind::If},
    {"repeat", StatementKind::Repeat}, {"def", StatementKind::Def},     {"return", StatementKind::Return}};

std::vector<std::string_view> keywords() {
  std::vector<std::string_view> words;
  for (const Keyword& k : kKeywords) words.push_back(k.word);
  return words;
}

}  // namespace

/// The help behind a word that begins no statement.
std::string TextParser::meantBy(const std::string& word) const {
  for (const char* sign : {"+", "-", "*", "/", "//", "%"})
    if (isSymbol(sign)) return "assign " + word + " = " + word + " " + sign + " .. gives a state or temp another value";
  if (const std::string_view here = spellingOfStatement(word); !here.empty()) return std::string(here);
  return didYouMean(word, keywords(),
                    "write NAME = op(..), or var, input, weight, state, temp, assign, output, loop, if, repeat, def");
}

Result<GraphFile> TextParser::file() {
  GraphFile file;
  file.path = lexer_.path();
  SVOD_CHECK(advance());
  while (token_.kind == TokenKind::Newline || token_.kind == TokenKind::Comment) SVOD_CHECK(statement(file.statements));
  SVOD_CHECK(header());
  while (token_.kind != TokenKind::End) SVOD_CHECK(statement(file.statements));
  file.comments = std::move(comments_);
  return file;
}

Status TextParser::header() {
  std::string help = "the first line is: svod " + std::to_string(kGraphVersion);
  if (!isWord("svod")) return unexpected("'svod " + std::to_string(kGraphVersion) + "'", help);
  SVOD_CHECK(advance());
  if (token_.kind != TokenKind::Int) return unexpected("the format version", help);
  if (token_.integer != kGraphVersion)
    return fail(Error(Diag::Unsupported, "format version " + token_.text + " is not known", help,
                      {lexer_.path(), token_.at.line, token_.at.column}));
  SVOD_CHECK(advance());
  Statement line;
  SVOD_CHECK(endOfStatement(line));
  if (!line.trailingComment.empty()) comments_.push_back(line.trailingComment);
  return {};
}

// One line: a statement, a comment or nothing.
Status TextParser::statement(std::vector<Statement>& statements) {
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
    auto known =
        std::ranges::find_if(kKeywords, [&](const Keyword& k) { return !first.quoted && first.text == k.word; });
    if (known == std::end(kKeywords) && isSymbol("["))
      return failAt(first.at, "a part of '" + first.text + "' is no new name",
                    "assign " + first.text + "[..] = VALUE writes a part of a state or temp");
    if (known == std::end(kKeywords))
      return failAt(first.at, "'" + first.text + "' does not start a statement", meantBy(first.text));
    SVOD_CHECK(keywordStatement(s, known->kind));
  }
  if (hasBody(s.kind) && token_.kind == TokenKind::Comment) {  // behind the }: it moves in front of the next statement
    comments_.push_back(token_.text);
    SVOD_CHECK(advance());
  }
  SVOD_CHECK(endOfStatement(s));
  statements.push_back(std::move(s));
  return {};
}

Status TextParser::endOfStatement(Statement& s) {
  if (!endsLine()) return unexpected("the end of the line", "one statement per line; lines go on inside brackets");
  for (std::string& comment : innerComments_) s.comments.push_back(std::move(comment));
  innerComments_.clear();
  if (token_.kind == TokenKind::Comment) {
    s.trailingComment = token_.text;
    SVOD_CHECK(advance());
  }
  return token_.kind == TokenKind::Newline ? advance() : Status();
}

Status TextParser::keywordStatement(Statement& s, StatementKind kind) {
  s.kind = kind;
  if (kind == StatementKind::Loop) return loopStatement(s);
  if (kind == StatementKind::If) return ifStatement(s);
  if (kind == StatementKind::Repeat) return repeatStatement(s);
  if (kind == StatementKind::Def) return defStatement(s);
  if (kind == StatementKind::Return) return returnStatement(s);
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
    const std::string form = "var " + s.names[0].text + " in [1, 512]";
    if (!isWord("in")) return unexpected("'in'", "the bounds of a variable stand behind it: " + form);
    SVOD_CHECK(advance());
    open_.push_back(token_.at);
    if (!isSymbol("[")) return unexpected("'[' before the bounds", "write " + form);
    SVOD_CHECK(advance());
    SVOD_TRY(s.min, integer());
    if (!isSymbol(",")) return unexpected("',' between the bounds", "write " + form);
    SVOD_CHECK(advance());
    SVOD_TRY(s.max, integer());
    if (!isSymbol("]")) return unexpected("']' after the bounds");
    open_.pop_back();
    SVOD_CHECK(advance());
    SVOD_TRY(const bool hasLikely, accept("~"));
    if (hasLikely) {
      SVOD_TRY(s.likely, integer());
    }
  } else if (kind != StatementKind::Output && (kind != StatementKind::Temp || isSymbol(":"))) {
    if (!isSymbol(":")) return unexpected("':' before the type", "write NAME: f32[2, 3]");
    SVOD_CHECK(advance());
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
Status TextParser::loopStatement(Statement& s) {
  SVOD_TRY(NameAt counter, name());
  s.names.push_back(std::move(counter));
  if (isSymbol("<=")) return unexpected("'<' between the counter and the count", "i <= n is written i < n + 1");
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

// repeat NAME < count { .. }
Status TextParser::repeatStatement(Statement& s) {
  SVOD_TRY(NameAt counter, name());
  s.names.push_back(std::move(counter));
  SVOD_CHECK(expect("<", "between the name and the count"));
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  return block(s, s.body, s.bodyComments);
}

// def NAME([NAME {, NAME}]) { .. }
Status TextParser::defStatement(Statement& s) {
  SVOD_TRY(NameAt function, name());
  s.names.push_back(std::move(function));
  open_.push_back(token_.at);
  SVOD_CHECK(expect("(", "before the parameters"));
  while (!isSymbol(")")) {
    SVOD_TRY(NameAt parameter, name());
    s.names.push_back(std::move(parameter));
    if (!isSymbol(")")) SVOD_CHECK(expect(",", "or ')' after a parameter"));
  }
  open_.pop_back();
  SVOD_CHECK(advance());
  return block(s, s.body, s.bodyComments);
}

// return expr {, expr}
Status TextParser::returnStatement(Statement& s) {
  std::vector<GraphExpr> values;
  do {
    if (!values.empty()) SVOD_CHECK(advance());
    SVOD_TRY(GraphExpr next, expr(2));
    values.push_back(std::move(next));
  } while (isSymbol(","));
  s.value = GraphExpr::list(std::move(values));
  s.value.at = s.at;
  s.hasValue = true;
  return {};
}

// if condition { .. } [else { .. }]
Status TextParser::ifStatement(Statement& s) {
  SVOD_TRY(s.value, expr(1));
  s.hasValue = true;
  SVOD_CHECK(block(s, s.body, s.bodyComments));
  if (!isWord("else")) return {};
  SVOD_CHECK(advance());
  s.hasOtherwise = true;
  return block(s, s.otherwise, s.otherwiseComments);
}

// Statements on lines of their own, up to the closing brace.
Status TextParser::block(Statement& s, std::vector<Statement>& body, std::vector<std::string>& endComments) {
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
  if (token_.kind != TokenKind::Newline)
    return unexpected("the end of the line", "statements of a body stand on their own lines");
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

Status TextParser::letStatement(Statement& s, NameAt first) {
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

Result<TypeExpr> TextParser::type() {
  TypeExpr result;
  result.at = token_.at;
  if (token_.kind == TokenKind::String) return unexpected("a dtype", "dtypes stand without quotes: " + token_.text);
  if (isSymbol("[")) return unexpected("a dtype", "a dtype stands in front of the dims: f32[n, 4]");
  SVOD_TRY(NameAt dtype, name());
  result.dtype = std::move(dtype.text);
  if (isSymbol("(") || isSymbol("<"))
    return unexpected("'['", "sizes stand in square brackets: " + result.dtype + "[2, 3]");
  if (!isSymbol("[")) return result;
  SVOD_TRY(result.dims, exprList(1, "]"));
  return result;
}

Result<GraphFile> parseGraphText(std::string_view text, const std::string& path) {
  return TextParser(text, path).file();
}
Result<GraphExpr> parseGraphExpr(std::string_view text, const std::string& path) {
  return TextParser(text, path).onlyExpr();
}

}  // namespace svod
