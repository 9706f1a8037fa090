// Types and expressions of the JSON form.
#include <algorithm>
#include <cmath>

#include "frontend/json_reader.h"

namespace svod {

Result<TypeExpr> JsonReader::type(const JsonValue& object) const {
  TypeExpr result;
  const JsonValue* dtype = object.find("dtype");
  if (!dtype) return failAt(object.at, "'dtype' is missing");
  SVOD_TRY(result.dtype, text(*dtype, "a dtype"));
  result.at = dtype->at;
  const JsonValue* shape = object.find("shape");
  if (!shape) return result;
  if (shape->kind != JsonKind::Array) return failAt(shape->at, "'shape' must be an array");
  for (const JsonValue& v : shape->items) {
    SVOD_TRY(GraphExpr size, dim(v));
    result.dims.push_back(std::move(size));
  }
  return result;
}

// Sizes are numbers, or expressions of the text form.
Result<GraphExpr> JsonReader::dim(const JsonValue& v) const {
  if (v.kind != JsonKind::String) return expr(v);
  Result<GraphExpr> size = parseGraphExpr(v.text, path_);
  if (!size) return failAt(v.at, "the dim '" + v.text + "' is no expression: " + size.error()->message);
  size->at = v.at;
  return size;
}

// File names are strings here; the words zeros and ones and every other value are as in expressions.
Result<GraphExpr> JsonReader::data(const JsonValue& v) const {
  SVOD_TRY(GraphExpr e, expr(v));
  if (e.kind == ExprKind::Name && !isData(e)) e.kind = ExprKind::String;
  if (!isData(e)) return failAt(v.at, "an op is no data", "use a file name, a number, an array, \"zeros\" or \"ones\"");
  return e;
}

Result<GraphExpr> JsonReader::expr(const JsonValue& v) const {
  GraphExpr e;
  switch (v.kind) {
    case JsonKind::Null: return failAt(v.at, "null is no value");
    case JsonKind::Bool: e = GraphExpr::ofBool(v.flag); break;
    case JsonKind::Int:
      e = GraphExpr::ofInt(v.integer);
      e.isBig = v.isBig;
      break;
    case JsonKind::Float: e = GraphExpr::ofFloat(v.number); break;
    case JsonKind::String: {
      SVOD_TRY(std::string name, text(v, "a name"));
      e = GraphExpr::name(std::move(name));
      break;
    }
    case JsonKind::Array: {
      std::vector<GraphExpr> items;
      for (const JsonValue& item : v.items) {
        SVOD_TRY(GraphExpr next, expr(item));
        items.push_back(std::move(next));
      }
      e = GraphExpr::list(std::move(items));
      break;
    }
    case JsonKind::Object:
      if (const JsonValue* string = v.find("string");
          string && v.members.size() == 1 && string->kind == JsonKind::String) {
        e = GraphExpr::string(string->text);
      } else if (const JsonValue* special = v.find("float"); special && v.members.size() == 1) {
        bool isKnown = special->kind == JsonKind::String &&
                       (special->text == "inf" || special->text == "-inf" || special->text == "nan");
        if (!isKnown) return failAt(special->at, "a float in words is \"inf\", \"-inf\" or \"nan\"");
        e = GraphExpr::ofFloat(special->text == "nan" ? NAN : special->text == "inf" ? HUGE_VAL : -HUGE_VAL);
      } else {
        SVOD_CHECK(onlyMembers(v, {"op", "args", "attrs"}));
        return call(v);
      }
  }
  e.at = v.at;
  if (e.depth > kMaxDepth) return failAt(v.at, "values are nested too deeply", "name parts of them");
  return e;
}

Result<GraphExpr> JsonReader::call(const JsonValue& v) const {
  const JsonValue* op = v.find("op");
  if (!op)
    return failAt(v.at, "'op' is missing",
                  "an object is an op with args and attrs, {\"string\": ..} or {\"float\": \"inf\"}");
  std::vector<GraphExpr> operands;
  if (const JsonValue* args = v.find("args")) {
    if (args->kind != JsonKind::Array) return failAt(args->at, "'args' must be an array");
    for (const JsonValue& a : args->items) {
      SVOD_TRY(GraphExpr operand, expr(a));
      operands.push_back(std::move(operand));
    }
  }
  const JsonValue* attrs = v.find("attrs");
  // Names of ops print as they are; operator symbols only where they are operators.
  const bool isSymbol = op->kind == JsonKind::String && op->text.find_first_of("+-*/%") != std::string::npos;
  if (isSymbol || op->kind == JsonKind::Array) {
    if (attrs) return failAt(attrs->at, "operators take no attributes", "leave 'attrs' out");
    return operation(v, *op, std::move(operands));
  }
  SVOD_TRY(std::string name, text(*op, "an op"));
  GraphExpr e = GraphExpr::call(std::move(name), std::move(operands));
  e.at = op->at;
  if (attrs && attrs->kind != JsonKind::Object) return failAt(attrs->at, "'attrs' must be an object");
  for (const JsonMember& m : attrs ? attrs->members : std::vector<JsonMember>{}) {
    if (m.name.empty()) return failAt(m.at, "an attribute has no name");
    SVOD_TRY(GraphExpr value, expr(m.value));
    e.depth = std::max(e.depth, value.depth + 1);
    e.attributes.push_back({m.name, std::move(value), m.at});
  }
  if (e.depth > kMaxDepth) return failAt(v.at, "values are nested too deeply", "name parts of them");
  return e;
}

/// One operator between all operands, or a list of those between them.
Result<GraphExpr> JsonReader::operation(const JsonValue& v, const JsonValue& op,
                                        std::vector<GraphExpr> operands) const {
  const bool isList = op.kind == JsonKind::Array;
  if (isList && (op.items.empty() || op.items.size() + 1 != operands.size()))
    return failAt(
        op.at,
        std::to_string(op.items.size()) + " operators stand between " + std::to_string(operands.size()) + " operands",
        "a list of operators has one entry less than args");
  if (operands.empty())
    return failAt(op.at, "an operator has no operands", "operators take two operands and no attributes");
  GraphExpr result;
  for (size_t i = 0; i < operands.size(); ++i) {
    const JsonValue& at = isList ? op.items[i == 0 ? 0 : i - 1] : op;
    SVOD_TRY(std::string symbol, text(at, "an op"));
    if (!isOperator(symbol, std::min<size_t>(operands.size(), 2)))
      return failAt(at.at, "'" + symbol + "' is no op here", "operators take two operands and no attributes");
    if (operands.size() == 1) {
      result = GraphExpr::call(std::move(symbol), std::move(operands));
      result.at = at.at;
      break;
    }
    result = i == 0 ? std::move(operands[0])
                    : GraphExpr::binary(std::move(result), {std::move(symbol), at.at}, std::move(operands[i]));
  }
  if (result.depth > kMaxDepth) return failAt(v.at, "values are nested too deeply", "name parts of them");
  return result;
}

}  // namespace svod
