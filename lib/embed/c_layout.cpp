// Where the units of an arena that is laid out for every run begin, in C.
#include "embed/c_names.h"

namespace svod {

namespace {

// Makes room for a buffer from a place in the arena on.
constexpr const char* kFit =
    "static void svod_fit(int64_t* end, int64_t begin, int64_t bytes) {\n"
    "  const int64_t needed = begin + (bytes + 63) / 64 * 64;\n"
    "  if (*end < needed) *end = needed;\n}\n\n";

}  // namespace

std::string layoutFunctions(const Interface& made, const CNames& names) {
  if (made.units.empty()) return {};
  std::string parameters, body = "  svod_at[0] = 0;\n", unused;
  uint32_t last = 0;
  for (const UnitRoom& room : made.units) {
    for (; last < room.end; last++)
      body += "  svod_at[" + std::to_string(last + 1) + "] = svod_at[" + std::to_string(last) + "];\n";
    body += "  svod_fit(svod_at + " + std::to_string(room.end) + ", svod_at[" + std::to_string(room.begin) + "], " +
            names.expr(room.bytes) + ");\n";
  }
  for (const Parameter& p : parametersOf(made, FunctionKind::Size)) {
    parameters += "int64_t " + p.name + ", ";
    if (!mentions(body, p.name)) unused += "  (void)" + p.name + ";\n";
  }
  return std::string(kFit) + "static void svod_layout(" + parameters + "int64_t* svod_at) {\n" + unused + body +
         "}\n\n";
}

std::vector<std::string> layoutCall(const Interface& made) {
  if (made.units.empty()) return {};
  std::string arguments;
  for (const Parameter& p : parametersOf(made, FunctionKind::Size)) arguments += p.name + ", ";
  return {"int64_t svod_at[" + std::to_string(made.unitCount() + 1) + "];", "svod_layout(" + arguments + "svod_at);"};
}

}  // namespace svod
