// The file around printed kernels.
#include "target/c/print_c.h"
#include "target/c/value_text.h"

namespace svod {

namespace {

// Compilers cannot see that different parameters are different memory, but lanes are independent by construction.
constexpr const char* kLanesMacro =
    "#if defined(__clang__)\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#define SVOD_LANES _Pragma(\"clang loop vectorize(assume_safety) interleave(disable)\")\n"
    // Loops over lanes that GCC unrolls before it makes vectors of them end as scalars. It takes vectors that begin
    // with a value, and are written lane by lane, for ones that may have none.
    "#elif defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#define SVOD_LANES "
    "_Pragma(\"GCC ivdep\") _Pragma(\"GCC unroll 1\")\n"
    "#else\n#define SVOD_LANES\n#endif\n\n";

// The types of values with several lanes that are used (lanesType). GCC keeps vectors in registers and arrays in
// memory, Clang the other way round; elements of both are written alike.
std::string lanesTypes(std::string_view code) {
  std::string vectors, arrays;
  for (DType dtype : allDTypes())
    for (int64_t count = 2; !typeName(dtype).empty() && !lanesType(dtype, count).empty(); count *= 2) {
      const std::string name = lanesType(dtype, count), type = "typedef " + typeName(dtype) + " " + name;
      if (code.find(name + " ") == code.npos) continue;
      vectors += type + " __attribute__((vector_size(" + std::to_string(count * byteSize(dtype)) + ")));\n";
      arrays += type + "[" + std::to_string(count) + "];\n";
    }
  if (vectors.empty()) return "";
  return "#if defined(__GNUC__) && !defined(__clang__)\n" + vectors + "#else\n" + arrays + "#endif\n\n";
}

// How the bits of a number are copied: by memcpy, or without the C library.
enum class Copy { Memcpy, Union };

// Bit copies between float and integer, only those that are used.
std::string helperText(std::string_view code, Copy copy) {
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
    const std::string from(h.fromType), to(h.toType);
    text += "static inline " + to + " " + name + "(" + from + " x) {\n  ";
    text += copy == Copy::Memcpy
                ? to + " y;\n  memcpy(&y, &x, sizeof y);\n  return y;\n}\n"
                : "union {\n    " + from + " x;\n    " + to + " y;\n  } bits;\n  bits.x = x;\n  return bits.y;\n}\n";
  }
  return text;
}

// Functions of the C library that kernels may call.
constexpr std::string_view kMathFunctions[] = {"fabs", "sqrt", "trunc", "floor", "ceil", "nearbyint", "fma"};

bool calls(std::string_view code, const std::string& function) {
  const auto isPart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = code.find(function + "("); at != code.npos; at = code.find(function + "(", at + 1))
    if (at == 0 || !isPart(code[at - 1])) return true;
  return false;
}

// What the compiler knows needs neither a header nor, where the processor has an instruction, the library.
std::string mathText(std::string_view code) {
  std::string known, declared;
  for (std::string_view function : kMathFunctions)
    for (const std::string type : {"float", "double"}) {
      const std::string name = std::string(function) + (type == "float" ? "f" : "");
      if (!calls(code, name)) continue;
      known += "#define " + name + " __builtin_" + name + "\n";
      declared += type + " " + name + "(" + type + (function == "fma" ? ", " + type + ", " + type : "") + ");\n";
    }
  return known.empty() ? "" : "#if defined(__GNUC__)\n" + known + "#else\n" + declared + "#endif\n\n";
}

constexpr const char* kFreestandingFlags =
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n"
    "#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n";

}  // namespace

std::string freestandingHead(std::string_view code) {
  std::string text = "#include <stdbool.h>\n#include <stdint.h>\n\n" + std::string(kFreestandingFlags) + mathText(code);
  if (code.find("SVOD_LANES") != code.npos) text += kLanesMacro;
  return text + lanesTypes(code) + helperText(code, Copy::Union);
}

std::string joinFunctions(std::span<const std::string> functions) {
  std::string code;
  for (const std::string& function : functions) code += "\n" + function;
  std::string head =
      "// Kernels printed by svodc. Build: cc -std=c11 -O3 -fno-math-errno -fno-trapping-math -fPIC -shared -lm\n"
      "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n"
      "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n";
  bool vectors = code.find("SVOD_LANES") != std::string::npos;
  return head + (vectors ? kLanesMacro : "") + lanesTypes(code) + helperText(code, Copy::Memcpy) + code;
}

}  // namespace svod
