// Prints a graph file as JSON, one statement per line.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "frontend/graph_file.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;

Json exprJson(const GraphExpr& e);

void addCall(Json& object, const GraphExpr& e) {
  if (e.kind == ExprKind::Chain) {
    const auto isFirst = [&](const OperatorAt& o) { return o.text == e.operators[0].text; };
    if (std::ranges::all_of(e.operators, isFirst)) {
      object["op"] = e.operators[0].text;
    } else {
      for (const OperatorAt& o : e.operators) object["op"].push_back(o.text);
    }
  } else {
    object["op"] = e.text;
  }
  if (!e.items.empty()) {
    Json args = Json::array();
    for (const GraphExpr& item : e.items) args.push_back(exprJson(item));
    object["args"] = std::move(args);
  }
  if (!e.attributes.empty()) {
    Json attrs = Json::object();
    for (const Argument& a : e.attributes) attrs[a.name] = exprJson(a.value);
    object["attrs"] = std::move(attrs);
  }
}

Json exprJson(const GraphExpr& e) {
  switch (e.kind) {
    case ExprKind::Name: return e.text;
    case ExprKind::Int: return e.isBig ? Json(static_cast<uint64_t>(e.integer)) : Json(e.integer);
    case ExprKind::Float:
      if (std::isfinite(e.number)) return e.number;
      return Json{{"float", std::isnan(e.number) ? "nan" : e.number < 0 ? "-inf" : "inf"}};
    case ExprKind::Bool: return e.flag;
    case ExprKind::String: return Json{{"string", e.text}};
    case ExprKind::List: {
      Json list = Json::array();
      for (const GraphExpr& item : e.items) list.push_back(exprJson(item));
      return list;
    }
    case ExprKind::Call:
    case ExprKind::Chain: {
      Json object = Json::object();
      addCall(object, e);
      return object;
    }
  }
  return nullptr;
}

// A name is written as a name; every other dim as an expression of the text form.
Json dimJson(const GraphExpr& e) {
  return e.kind == ExprKind::Int && !e.isBig ? Json(e.integer) : Json(writeGraphExpr(e));
}

Json dataJson(const GraphExpr& e) {
  bool isPath = e.kind == ExprKind::String && !e.text.empty() && e.text != "zeros" && e.text != "ones";
  return isPath ? Json(e.text) : exprJson(e);
}

void addValue(Json& object, const Statement& s, bool isData) {
  if (!s.hasValue) return;
  if (isData) {
    object["data"] = dataJson(s.value);
  } else if (s.value.kind >= ExprKind::Call) {
    addCall(object, s.value);
  } else {
    object["value"] = exprJson(s.value);
  }
}

Json statementJson(const Statement& s);

void addBlock(Json& object, const std::vector<Statement>& statements, const std::vector<std::string>& comments,
              const char* name, const char* commentsName) {
  object[name] = Json::array();
  for (const Statement& s : statements) object[name].push_back(statementJson(s));
  if (!comments.empty()) object[commentsName] = comments;
}

void addHead(Json& object, const Statement& s) {
  if (s.kind == StatementKind::If) {
    object["if"] = exprJson(s.value);
  } else if (s.kind == StatementKind::Repeat) {
    object["repeat"] = s.names[0].text;
    object["count"] = dimJson(s.value);
  } else if (s.kind == StatementKind::Def) {
    object["def"] = s.names[0].text;
    object["params"] = Json::array();
    for (size_t i = 1; i < s.names.size(); ++i) object["params"].push_back(s.names[i].text);
  } else {
    object["loop"] = s.names[0].text;
    object["count"] = dimJson(s.value);
    if (s.hasCondition) object["while"] = exprJson(s.condition);
    if (s.unroll) object["unroll"] = true;
  }
  addBlock(object, s.body, s.bodyComments, "body", "bodyComments");
  if (s.hasOtherwise) addBlock(object, s.otherwise, s.otherwiseComments, "else", "elseComments");
}

Json statementJson(const Statement& s) {
  Json object = Json::object();
  std::string head(toText(s.kind));
  const bool isBlock = hasBody(s.kind), isReturn = s.kind == StatementKind::Return;
  if (isBlock) {
    addHead(object, s);
  } else if (isReturn) {
    object[head] = exprJson(s.value);
  } else if (s.kind == StatementKind::Assign) {
    object[head] = exprJson(s.target);
  } else if (s.names.size() == 1) {
    object[head] = s.names[0].text;
  } else {
    for (const NameAt& n : s.names) object[head].push_back(n.text);
  }
  if (s.kind == StatementKind::Var) object["min"] = s.min, object["max"] = s.max;
  if (s.likely) object["likely"] = *s.likely;
  if (s.hasType) {
    object["dtype"] = s.type.dtype;
    if (!s.type.dims.empty()) {
      Json shape = Json::array();
      for (const GraphExpr& d : s.type.dims) shape.push_back(dimJson(d));
      object["shape"] = std::move(shape);
    }
  }
  if (!isBlock && !isReturn) addValue(object, s, s.kind == StatementKind::Weight || s.kind == StatementKind::State);
  if (!s.trailingComment.empty()) object["comment"] = s.trailingComment;
  if (!s.comments.empty()) object["comments"] = s.comments;
  return object;
}

// Bytes that are no UTF-8 cannot stand in JSON; they become the replacement character.
std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string writeGraphJson(const GraphFile& file) {
  std::string text = "{\n  \"svod\": " + std::to_string(kGraphVersion) + ",\n  \"statements\": [";
  bool isFirst = true;
  for (const Statement& s : file.statements) {
    text += (isFirst ? "\n    " : ",\n    ") + dump(statementJson(s));
    isFirst = false;
  }
  text += isFirst ? "]" : "\n  ]";
  if (!file.comments.empty()) text += ",\n  \"comments\": " + dump(Json(file.comments));
  return text + "\n}\n";
}

}  // namespace svod
