// What the text of a kernel calls, for compilers of OpenCL C: only what the text has.
#include "target/opencl/print_opencl.h"

namespace svod::opencl {

namespace {

constexpr std::string_view kFp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
constexpr std::string_view kSettings = "#pragma OPENCL FP_CONTRACT OFF\n";

/// A macro, with the name that it has in texts.
struct Macro {
  std::string_view name, rest;
};
constexpr Macro kMacros[] = {
    {"INT64_C", "(x) x##L"},
    {"UINT64_C", "(x) x##UL"},
    {"INT64_MIN", " LONG_MIN"},
    {"INT32_MIN", " INT_MIN"},
    {"svod_gidx0", "() ((uint)get_group_id(0))"},
    {"svod_gidx1", "() ((uint)get_group_id(1))"},
    {"svod_gidx2", "() ((uint)get_group_id(2))"},
    {"svod_lidx0", "() ((uint)get_local_id(0))"},
    {"svod_lidx1", "() ((uint)get_local_id(1))"},
    {"svod_lidx2", "() ((uint)get_local_id(2))"},
    {"svod_barrier", "() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"},
    {"SVOD_AT", "(type, memory, bytes) ((type)((__global uchar*)(memory) + (bytes)))"},
    {"bits_u32_f32", "(x) as_float(x)"},
    {"bits_f32_u32", "(x) as_uint(x)"},
    {"bits_i32_f32", "(x) as_float(x)"},
    {"bits_f32_i32", "(x) as_int(x)"},
    {"bits_u64_f64", "(x) as_double(x)"},
    {"bits_f64_u64", "(x) as_ulong(x)"},
    {"bits_i64_f64", "(x) as_double(x)"},
    {"bits_f64_i64", "(x) as_long(x)"},
};

constexpr struct {
  std::string_view name, type;
  int bytes;
} kElements[] = {{"i8", "char", 1},   {"i16", "short", 2}, {"i32", "int", 4},    {"i64", "long", 8},
                 {"f32", "float", 4}, {"u8", "uchar", 1},  {"u16", "ushort", 2}, {"u32", "uint", 4},
                 {"u64", "ulong", 8}, {"f64", "double", 8}};

constexpr struct {
  std::string_view prefix, space;
} kSpaces[] = {{"svod_", "__global"}, {"svod_shared_", "__local"}};

/// Loads and stores of values of one type at pointers to `element`.
std::string accesses(std::string_view text, const std::string& name, const std::string& type,
                     const std::string& element) {
  const bool isVector = type != element;
  const auto at = [&](const std::string& pointed) { return isVector ? "(" + pointed + "*)p" : std::string("p"); };
  std::string all;
  for (const auto& [prefix, space] : kSpaces) {
    const std::string in = std::string(space) + " ", function(prefix);
    if (text.find(function + "load_" + name + "(") != text.npos)
      all += "static inline " + type + " " + function + "load_" + name + "(" + in + "const " + element +
             "* p) { return *" + at(in + "const " + type) + "; }\n";
    if (text.find(function + "store_" + name + "(") != text.npos)
      all += "static inline void " + function + "store_" + name + "(" + in + element + "* p, " + type + " x) { *" +
             at(in + type) + " = x; }\n";
  }
  return all;
}

}  // namespace

std::string openClPrelude(std::string_view text) {
  constexpr int kMostBytes = 16;
  std::string all(text.find("double") == text.npos ? "" : kFp64);
  all += kSettings;
  for (const auto& [name, rest] : kMacros)
    if (text.find(name) != text.npos) all += "#define " + std::string(name) + std::string(rest) + "\n";
  for (const auto& [name, type, bytes] : kElements) {
    all += accesses(text, std::string(name), std::string(type), std::string(type));
    for (int width = 2; width * bytes <= kMostBytes; width *= 2) {
      const std::string lanes = std::string(name) + "x" + std::to_string(width), vector = "svod_" + lanes;
      if (text.find(vector + " ") == text.npos) continue;
      all += "typedef struct __attribute__((aligned(" + std::to_string(width * bytes) + "))) { " + std::string(type) +
             " v[" + std::to_string(width) + "]; } " + vector + ";\n";
      all += accesses(text, lanes, vector, std::string(type));
    }
  }
  return all + "\n";
}

}  // namespace svod::opencl
