// Prints a graph file in the text form. Reading the result back gives the same tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/graph_file.h"
#include "frontend/lexer.h"
#include "support/hex.h"

namespace svod {

namespace {

std::string escaped(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (c == quote || c == '\\') {
          out += '\\', out += c;
        } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
          out += "\\x";
          appendHex(out, static_cast<uint8_t>(c));
        } else {
          out += c;
        }
    }
  }
  return out + quote;
}

bool isReserved(std::string_view name) { return name == "true" || name == "false" || name == "inf" || name == "nan"; }

std::string floatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// Binding strength of an operator: sums 0, products 1, signs 2, everything else 3.
int strength(const GraphExpr& e) {
  if (e.kind == ExprKind::Int && !e.isBig && e.integer < 0) return 2;
  if (e.kind == ExprKind::Float && std::signbit(e.number) && !std::isnan(e.number)) return 2;
  if (const int binary = binaryStrength(e); binary >= 0) return binary;
  return e.kind == ExprKind::Call && e.attributes.empty() && isOperator(e.text, e.items.size()) ? 2 : 3;
}

std::string print(const GraphExpr& e, int outer);

std::string printCall(const GraphExpr& e) {
  int own = strength(e);
  if (own < 2) return print(e.items[0], own) + " " + e.text + " " + print(e.items[1], own + 1);
  // A bracket keeps the sign from becoming part of a number.
  if (own == 2) {
    bool isNumber = e.items[0].kind == ExprKind::Int || e.items[0].kind == ExprKind::Float;
    return isNumber ? "-(" + print(e.items[0], 0) + ")" : "-" + print(e.items[0], 2);
  }
  std::string text = writeName(e.text) + "(";
  bool first = true;
  for (const GraphExpr& item : e.items) text += (first ? "" : ", ") + print(item, 0), first = false;
  for (const Argument& a : e.attributes)
    text += (first ? "" : ", ") + writeName(a.name) + "=" + print(a.value, 0), first = false;
  return text + ")";
}

std::string listText(const std::vector<GraphExpr>& items) {
  std::string text;
  for (const GraphExpr& item : items) text += (text.empty() ? "" : ", ") + print(item, 0);
  return text;
}

std::string print(const GraphExpr& e, int outer) {
  std::string text;
  switch (e.kind) {
    case ExprKind::Name: text = writeName(e.text); break;
    case ExprKind::Int:
      text = e.isBig ? fmt::format("{}", static_cast<uint64_t>(e.integer)) : fmt::format("{}", e.integer);
      break;
    case ExprKind::Float: text = floatText(e.number); break;
    case ExprKind::Bool: text = e.flag ? "true" : "false"; break;
    case ExprKind::String: text = escaped(e.text, '"'); break;
    case ExprKind::Call: text = printCall(e); break;
    case ExprKind::Chain:
      text = print(e.items[0], strength(e));
      for (size_t i = 1; i < e.items.size(); ++i)
        text += " " + e.operators[i - 1].text + " " + print(e.items[i], strength(e) + 1);
      break;
    case ExprKind::List: text = "[" + listText(e.items) + "]"; break;
  }
  return strength(e) < outer ? "(" + text + ")" : text;
}

std::string typeText(const TypeExpr& type) {
  std::string text = writeName(type.dtype);
  if (type.dims.empty()) return text;
  return text + "[" + listText(type.dims) + "]";
}

std::string functionText(const Statement& s) {
  std::string text;
  for (size_t i = 1; i < s.names.size(); ++i) text += (i == 1 ? "" : ", ") + writeName(s.names[i].text);
  return "def " + writeName(s.names[0].text) + "(" + text + ")";
}

std::string headText(const Statement& s) {
  if (s.kind == StatementKind::If) return "if " + print(s.value, 0);
  if (s.kind == StatementKind::Loop) {
    std::string text = "loop " + writeName(s.names[0].text) + " < " + print(s.value, 0);
    if (s.hasCondition) text += " while " + print(s.condition, 0);
    return s.unroll ? text + ", unroll=true" : text;
  }
  if (s.kind == StatementKind::Repeat) return "repeat " + writeName(s.names[0].text) + " < " + print(s.value, 0);
  if (s.kind == StatementKind::Def) return functionText(s);
  std::string text;
  if (s.kind != StatementKind::Let) text = std::string(toText(s.kind)) + " ";
  if (s.kind == StatementKind::Return) return text + listText(s.value.items);
  for (const NameAt& n : s.names) text += (&n == &s.names[0] ? "" : ", ") + writeName(n.text);
  if (s.kind == StatementKind::Assign) text += print(s.target, 0);
  if (s.kind == StatementKind::Var) text += fmt::format(" in [{}, {}]", s.min, s.max);
  if (s.likely) text += fmt::format(" ~ {}", *s.likely);
  if (s.hasType) text += ": " + typeText(s.type);
  if (s.hasValue) text += " = " + print(s.value, 0);
  return text;
}

// Breaks a long statement where the text form lets a line go on: inside brackets, behind a comma, or behind an operator
// if the last comma is far back.
std::string wrapped(const std::string& line, size_t indent) {
  constexpr size_t kLongest = 120, kShortest = 60, kFurther = 4;
  if (indent + line.size() <= kLongest) return line;
  std::string out;
  size_t begin = 0, column = indent, comma = 0,
         sign = 0;  // of the line so far; the last spaces to break at, 0 for none
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '`') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == ' ' && depth > 0 && i > begin) {
      if (line[i - 1] == ',') comma = i;
      if (std::string_view("+-*/%").find(line[i - 1]) != std::string_view::npos) sign = i;
    }
    size_t space = comma >= begin + kShortest || sign == 0 ? comma : sign;
    if (column + (i - begin) < kLongest || space == 0) continue;
    out += line.substr(begin, space - begin) + "\n" + std::string(indent + kFurther, ' ');
    begin = space + 1, comma = comma > space ? comma : 0, sign = sign > space ? sign : 0, column = indent + kFurther;
  }
  return out + line.substr(begin);
}

void writeComments(std::string& out, const std::vector<std::string>& lines, size_t indent) {
  for (const std::string& line : lines) out += (line.empty() ? "" : std::string(indent, ' ') + line) + "\n";
}

void writeStatements(std::string& out, const std::vector<Statement>& statements, size_t indent) {
  constexpr size_t kStep = 2;
  for (const Statement& s : statements) {
    const bool isBlock = hasBody(s.kind);
    writeComments(out, s.comments, indent);
    out += std::string(indent, ' ') + wrapped(headText(s), indent) + (isBlock ? " {" : "") +
           (s.trailingComment.empty() ? "" : "  " + s.trailingComment) + "\n";
    if (!isBlock) continue;
    writeStatements(out, s.body, indent + kStep);
    writeComments(out, s.bodyComments, indent + kStep);
    if (s.hasOtherwise) {
      out += std::string(indent, ' ') + "} else {\n";
      writeStatements(out, s.otherwise, indent + kStep);
      writeComments(out, s.otherwiseComments, indent + kStep);
    }
    out += std::string(indent, ' ') + "}\n";
  }
}

}  // namespace

std::string writeName(std::string_view name) {
  bool isPlain = !name.empty() && isNameStart(name[0]) && std::all_of(name.begin(), name.end(), isNameChar);
  return isPlain && !isReserved(name) ? std::string(name) : escaped(name, '`');
}

std::string writeGraphExpr(const GraphExpr& expr) { return print(expr, 0); }

std::string writeGraphText(const GraphFile& file) {
  std::string text = fmt::format("svod {}\n", kGraphVersion);
  writeStatements(text, file.statements, 0);
  writeComments(text, file.comments, 0);
  return text;
}

}  // namespace svod
