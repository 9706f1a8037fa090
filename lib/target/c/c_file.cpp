// The file around printed kernels.
#include "target/c/print_c.h"

namespace svod {

namespace {

// Compilers cannot see that different parameters are different memory, but lanes are independent by construction.
constexpr const char* kLanesMacro =
    "#if defined(__clang__)\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#define SVOD_LANES _Pragma(\"clang loop vectorize(assume_safety) interleave(disable)\")\n"
    "#elif defined(__GNUC__)\n#define SVOD_LANES _Pragma(\"GCC ivdep\")\n"
    "#else\n#define SVOD_LANES\n#endif\n\n";

// Bit copies between float and integer, only those that are used.
std::string helperText(std::string_view code) {
  constexpr struct {
    std::string_view from, fromType, to, toType;
  } kHelpers[] = {{"u32", "uint32_t", "f32", "float"},  {"f32", "float", "u32", "uint32_t"},
                  {"i32", "int32_t", "f32", "float"},   {"f32", "float", "i32", "int32_t"},
                  {"u64", "uint64_t", "f64", "double"}, {"f64", "double", "u64", "uint64_t"},
                  {"i64", "int64_t", "f64", "double"},  {"f64", "double", "i64", "int64_t"}};
  std::string text;
  for (const auto& h : kHelpers) {
    std::string name = "bits_" + std::string(h.from) + "_" + std::string(h.to);
    if (code.find(name + "(") == std::string_view::npos) continue;
    text += "static inline " + std::string(h.toType) + " " + name + "(" + std::string(h.fromType) + " x) {\n  " +
            std::string(h.toType) + " y;\n  memcpy(&y, &x, sizeof y);\n  return y;\n}\n";
  }
  return text;
}

}  // namespace

std::string joinFunctions(std::span<const std::string> functions) {
  std::string code;
  for (const std::string& function : functions) code += "\n" + function;
  std::string head =
      "// Kernels printed by svodc. Build: cc -std=c11 -O3 -fno-math-errno -fno-trapping-math -fPIC -shared -lm\n"
      "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n"
      "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n";
  bool vectors = code.find("SVOD_LANES") != std::string::npos;
  return head + (vectors ? kLanesMacro : "") + helperText(code) + code;
}

}  // namespace svod
