// The JSON form: the same tree as the text form, one object per statement. docs/graph.schema.json describes
// it.
#include <algorithm>

#include "frontend/json_reader.h"
#include "frontend/lexer.h"
#include "support/suggest.h"

namespace svod {

namespace {

bool isComment(const JsonValue& v) {
  return v.kind == JsonKind::String && v.text.starts_with('#') && v.text.find('\n') == std::string::npos;
}

constexpr StatementKind kKinds[] = {
    StatementKind::Var,    StatementKind::Input,  StatementKind::Weight, StatementKind::State, StatementKind::Let,
    StatementKind::Assign, StatementKind::Output, StatementKind::Temp,   StatementKind::Loop,  StatementKind::If,
    StatementKind::Repeat, StatementKind::Def,    StatementKind::Return};

}  // namespace

Status JsonReader::onlyMembers(const JsonValue& object, std::initializer_list<std::string_view> known) const {
  for (const JsonMember& m : object.members)
    if (std::find(known.begin(), known.end(), m.name) == known.end()) {
      std::vector<std::string_view> names(known.begin(), known.end());
      return failAt(m.at, "no member is called '" + m.name + "' here", didYouMean(m.name, names));
    }
  return {};
}

Result<std::string> JsonReader::text(const JsonValue& v, const char* what) const {
  if (v.kind == JsonKind::String && !v.text.empty()) return v.text;
  return failAt(v.at,
                std::string(what) + " is " + std::string(toText(v.kind)) + ", expected a string that is not empty");
}

Result<int64_t> JsonReader::integer(const JsonValue& object, std::string_view name) const {
  const JsonValue* v = object.find(name);
  if (v && v->kind == JsonKind::Int && !v->isBig) return v->integer;
  return failAt(v ? v->at : object.at, "'" + std::string(name) + "' must be an integer");
}

Status JsonReader::comments(const JsonValue* v, std::vector<std::string>& lines) const {
  if (!v) return {};
  if (v->kind != JsonKind::Array) return failAt(v->at, "comments are an array of lines");
  for (const JsonValue& line : v->items) {
    if (!isComment(line) && !(line.kind == JsonKind::String && line.text.empty()))
      return failAt(line.at, "a comment line starts with # or is empty");
    lines.push_back(trimComment(line.text));
  }
  return {};
}

Result<GraphFile> JsonReader::file(const JsonValue& root) {
  GraphFile file;
  file.path = path_;
  if (root.kind != JsonKind::Object)
    return failAt(root.at, "the file holds " + std::string(toText(root.kind)) + ", expected an object");
  SVOD_CHECK(onlyMembers(root, {"svod", "statements", "comments"}));
  SVOD_TRY(int64_t version, integer(root, "svod"));
  if (version != kGraphVersion) {
    Position at = root.find("svod")->at;
    return fail(Error(Diag::Unsupported, "format version " + std::to_string(version) + " is not known",
                      "this reader knows version " + std::to_string(kGraphVersion), {path_, at.line, at.column}));
  }
  const JsonValue* list = root.find("statements");
  if (!list) return failAt(root.at, "'statements' must be an array");
  SVOD_CHECK(statements(*list, file.statements, 0));
  SVOD_CHECK(comments(root.find("comments"), file.comments));
  return file;
}

Status JsonReader::statements(const JsonValue& list, std::vector<Statement>& all, int depth) const {
  if (list.kind != JsonKind::Array) return failAt(list.at, "statements must be an array");
  if (depth > kMaxLoopDepth) return failAt(list.at, "loops and branches are nested too deeply", "at most 16 levels");
  for (const JsonValue& v : list.items) SVOD_CHECK(statement(v, all, depth));
  return {};
}

Status JsonReader::statement(const JsonValue& v, std::vector<Statement>& all, int depth) const {
  Statement s;
  s.at = v.at;
  const JsonValue* head = nullptr;
  for (StatementKind kind : kKinds)
    if (const JsonValue* found = v.kind == JsonKind::Object ? v.find(toText(kind)) : nullptr; found && !head) {
      s.kind = kind;
      head = found;
    }
  if (!head)
    return failAt(
        v.at,
        "a statement is an object with var, input, weight, state, temp, let, assign, output, loop, if, repeat, "
        "def or return");
  if (s.kind == StatementKind::Assign) {
    SVOD_TRY(s.target, expr(*head));
  } else if (s.kind == StatementKind::If || s.kind == StatementKind::Return) {
    SVOD_TRY(s.value, expr(*head));
    s.hasValue = true;
    if (s.kind == StatementKind::Return && (s.value.kind != ExprKind::List || s.value.items.empty()))
      return failAt(head->at, "'return' must be an array of values");
  } else if (s.kind == StatementKind::Let && head->kind == JsonKind::Array) {
    for (const JsonValue& n : head->items) {
      SVOD_TRY(std::string name, text(n, "a name"));
      s.names.push_back({std::move(name), n.at});
    }
    if (s.names.empty()) return failAt(head->at, "a let has no name");
  } else {
    SVOD_TRY(std::string name, text(*head, "a name"));
    s.names.push_back({std::move(name), head->at});
  }
  SVOD_CHECK(comments(v.find("comments"), s.comments));
  if (const JsonValue* trailing = v.find("comment")) {
    if (!isComment(*trailing)) return failAt(trailing->at, "a comment is one line that starts with #");
    s.trailingComment = trimComment(trailing->text);
  }
  SVOD_CHECK(hasBody(s.kind) ? block(v, s, depth) : body(v, s));
  all.push_back(std::move(s));
  return {};
}

Status JsonReader::count(const JsonValue& v, Statement& s) const {
  const JsonValue* count = v.find("count");
  if (!count) return failAt(v.at, "a " + std::string(toText(s.kind)) + " needs a count");
  SVOD_TRY(s.value, dim(*count));
  s.hasValue = true;
  return {};
}

Status JsonReader::parameters(const JsonValue& v, Statement& s) const {
  const JsonValue* names = v.find("params");
  if (!names || names->kind != JsonKind::Array) return failAt(v.at, "'params' must be an array of names");
  for (const JsonValue& n : names->items) {
    SVOD_TRY(std::string name, text(n, "a parameter"));
    s.names.push_back({std::move(name), n.at});
  }
  return {};
}

Status JsonReader::block(const JsonValue& v, Statement& s, int depth) const {
  if (s.kind == StatementKind::Repeat) {
    SVOD_CHECK(onlyMembers(v, {"repeat", "count", "body", "bodyComments", "comments", "comment"}));
    SVOD_CHECK(count(v, s));
  } else if (s.kind == StatementKind::Def) {
    SVOD_CHECK(onlyMembers(v, {"def", "params", "body", "bodyComments", "comments", "comment"}));
    SVOD_CHECK(parameters(v, s));
  } else if (s.kind == StatementKind::Loop) {
    SVOD_CHECK(onlyMembers(v, {"loop", "count", "while", "unroll", "body", "bodyComments", "comments", "comment"}));
    SVOD_CHECK(count(v, s));
    const JsonValue* unroll = v.find("unroll");
    if (const JsonValue* condition = v.find("while")) {
      SVOD_TRY(s.condition, expr(*condition));
      s.hasCondition = true;
    }
    if (unroll && unroll->kind != JsonKind::Bool) return failAt(unroll->at, "'unroll' must be true or false");
    s.unroll = unroll && unroll->flag;
  } else {
    SVOD_CHECK(onlyMembers(v, {"if", "body", "bodyComments", "else", "elseComments", "comments", "comment"}));
  }
  const JsonValue *list = v.find("body"), *otherwise = v.find("else");
  if (!list) return failAt(v.at, "'body' must be an array");
  SVOD_CHECK(statements(*list, s.body, depth + 1));
  SVOD_CHECK(comments(v.find("bodyComments"), s.bodyComments));
  if (!otherwise) return {};
  s.hasOtherwise = true;
  SVOD_CHECK(statements(*otherwise, s.otherwise, depth + 1));
  return comments(v.find("elseComments"), s.otherwiseComments);
}

Status JsonReader::body(const JsonValue& v, Statement& s) const {
  std::string_view head = toText(s.kind);
  if (s.kind == StatementKind::Return) return onlyMembers(v, {head, "comments", "comment"});
  if (s.kind == StatementKind::Var) {
    SVOD_CHECK(onlyMembers(v, {head, "min", "max", "likely", "value", "op", "args", "attrs", "comments", "comment"}));
    SVOD_TRY(s.min, integer(v, "min"));
    SVOD_TRY(s.max, integer(v, "max"));
    if (v.find("likely")) {
      SVOD_TRY(s.likely, integer(v, "likely"));
    }
  } else if (s.kind == StatementKind::Input) {
    SVOD_CHECK(onlyMembers(v, {head, "dtype", "shape", "comments", "comment"}));
  } else if (s.kind == StatementKind::Weight || s.kind == StatementKind::State) {
    SVOD_CHECK(onlyMembers(v, {head, "dtype", "shape", "data", "comments", "comment"}));
  } else {
    SVOD_CHECK(onlyMembers(v, {head, "dtype", "shape", "value", "op", "args", "attrs", "comments", "comment"}));
  }
  bool isTyped = s.kind == StatementKind::Input || s.kind == StatementKind::Weight || s.kind == StatementKind::State;
  if (isTyped || ((s.kind == StatementKind::Let || s.kind == StatementKind::Temp) && v.find("dtype"))) {
    SVOD_TRY(s.type, type(v));
    s.hasType = true;
  }
  if (const JsonValue* value = v.find(isTyped ? "data" : "value")) {
    if (v.find("op")) return failAt(value->at, "a statement has either a value or an op");
    SVOD_TRY(s.value, isTyped ? data(*value) : expr(*value));
    s.hasValue = true;
  } else if (v.find("op")) {
    SVOD_TRY(s.value, call(v));
    s.hasValue = true;
  }
  bool needsValue = s.kind == StatementKind::Weight || s.kind == StatementKind::Let ||
                    s.kind == StatementKind::Assign || s.kind == StatementKind::Temp;
  if (needsValue && !s.hasValue)
    return failAt(v.at, "a " + std::string(head) + " needs " + (isTyped ? "data" : "a value or an op"));
  return {};
}

Result<GraphFile> parseGraphJson(std::string_view text, const std::string& path) {
  SVOD_TRY(JsonValue root, parseJson(text, path));
  return JsonReader(path).file(root);
}

}  // namespace svod
