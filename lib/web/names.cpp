#include "web/names.h"

#include <algorithm>
#include <set>

#include "embed/fold_expr.h"

namespace svod::web {

namespace {

/// Words of JavaScript, and names that the functions of a module use, with blanks around each.
constexpr std::string_view kReserved =
    " arguments arenas async await break case catch class const continue debugger default delete do else enum eval "
    "export extends false finally for function if implements import in inputs instanceof interface kernels let load "
    "mod new null outputs package plan private protected public return run static steps super switch this throw true "
    "try typeof undefined up var void while with yield Infinity Math NaN ";

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isIdentifier(std::string_view name) {
  return !name.empty() && isLetter(name[0]) &&
         std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c); });
}

/// Capitals are for the memories of the module.
bool isFree(std::string_view name) {
  return isIdentifier(name) && kReserved.find(" " + std::string(name) + " ") == kReserved.npos &&
         std::ranges::any_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string operation(ExprOp op, const std::string& a, const std::string& b) {
  switch (op) {
    case ExprOp::FloorDiv: return "Math.floor(" + a + " / " + b + ")";
    case ExprOp::CeilDiv: return "Math.ceil(" + a + " / " + b + ")";
    case ExprOp::Mod: return "mod(" + a + ", " + b + ")";
    case ExprOp::Max: return "Math.max(" + a + ", " + b + ")";
    case ExprOp::Min: return "Math.min(" + a + ", " + b + ")";
    default: return "(" + a + (op == ExprOp::Add ? " + " : op == ExprOp::Sub ? " - " : " * ") + b + ")";
  }
}

/// Whether the parentheses at both ends are one pair.
bool isWrapped(std::string_view text) {
  if (!text.starts_with('(')) return false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); i++) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

std::string textOf(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 32 || code == 127)
      out += std::string("\\x") + kDigits[code >> 4] + kDigits[code & 15];
    else
      out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return out + "\"";
}

std::string property(std::string_view name) {
  return isIdentifier(name) && name != "__proto__" ? std::string(name)
         : name == "__proto__"                     ? "[\"__proto__\"]"
                                                   : textOf(name);
}

std::string inComment(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '/' && !safe.empty() && safe.back() == '*') safe += ' ';
    safe += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return safe;
}

std::string exprText(const Expr& expr, std::span<const std::string> names) {
  const auto leaf = [&](const ExprNode& node) {
    if (node.op == ExprOp::Var) return names[static_cast<size_t>(node.value)];
    return node.value < 0 ? "(" + std::to_string(node.value) + ")" : std::to_string(node.value);
  };
  const std::string text = foldExpr<std::string>(expr, leaf, operation);
  return isWrapped(text) ? text.substr(1, text.size() - 2) : text;
}

std::string typeText(const Plan& plan, ElementType type, std::span<const Expr> shape) {
  const std::vector<std::string> names = variableNames(plan);
  std::string dims;
  for (const Expr& dim : shape) dims += (dims.empty() ? "" : ", ") + toText(dim, names);
  return std::string(nameOf(type)) + "[" + dims + "]";
}

Names::Names(const Plan& plan) {
  std::set<std::string> used;
  for (VariableId id = 0; id < plan.variables.size(); id++) {
    const Variable& variable = plan.variables[id];
    if (variable.kind == VariableKind::Free) given_.push_back(id);
    std::string name = isFree(variable.name) ? variable.name : "v" + std::to_string(id);
    while (!used.insert(name).second) name += "_";
    variables_.push_back(variable.kind == VariableKind::Fixed ? exprText(variable.value, {}) : name);
  }
}

std::string Names::parameter() const {
  std::string list;
  for (const VariableId id : given_) list += (list.empty() ? "" : ", ") + variables_[id];
  return "[" + list + "]";
}

}  // namespace svod::web
