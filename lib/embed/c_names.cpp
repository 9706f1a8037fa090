#include "embed/c_names.h"

#include "embed/c_parts.h"

namespace svod {

bool mentions(const std::string& code, const std::string& name) {
  const auto isPart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = code.find(name); at != code.npos; at = code.find(name, at + 1))
    if ((at == 0 || !isPart(code[at - 1])) && !isPart(code[at + name.size()])) return true;
  return false;
}

CNames::CNames(const Plan& plan, const Interface& made) : made_(made), variables_(plan.variables.size()) {
  for (VariableId id = 0; id < plan.variables.size(); id++) {
    const Variable& v = plan.variables[id];
    const Parameter* parameter = made.find(ParameterKind::Variable, id);
    variables_[id] = v.kind == VariableKind::Fixed ? exprText(v.value, {})
                     : parameter != nullptr        ? parameter->name
                                                   : "svod_trip" + std::to_string(id);
  }
}

std::string CNames::expr(const Expr& e) const { return exprText(e, variables_); }

std::string CNames::pointer(BufferId id) const {
  const Location& at = made_.buffers[id];
  std::string base;
  switch (at.memory) {
    case ParameterKind::Arena: base = inArena(at.unit); break;
    case ParameterKind::States: base = "(unsigned char*)states"; break;
    case ParameterKind::Weights: base = "(unsigned char*)(uintptr_t)" + weights(); break;
    default: base = "(unsigned char*)(uintptr_t)" + made_.find(at.memory, at.id)->name; break;
  }
  return at.offset == 0 ? base : base + " + " + std::to_string(at.offset);
}

/// Where a unit of the arena begins.
std::string CNames::inArena(uint32_t unit) const {
  return "(unsigned char*)arena" + (unit == 0 ? "" : " + svod_at[" + std::to_string(unit) + "]");
}

std::string CNames::scratch() const {
  if (!made_.units.empty()) return inArena(made_.unitCount());
  return made_.scratchOffset == 0 ? "(unsigned char*)arena"
                                  : "(unsigned char*)arena + " + std::to_string(made_.scratchOffset);
}

std::string CNames::condition(const LaunchCase& one) const {
  std::string text;
  for (const SizeRange& range : one.when) {
    const std::string size = expr(range.size), least = exprText(range.min, {}), most = exprText(range.max, {});
    if (!text.empty()) text += " && ";
    text += range.min == range.max ? size + " == " + least : size + " >= " + least + " && " + size + " <= " + most;
  }
  return text;
}

}  // namespace svod
