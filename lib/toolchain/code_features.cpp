#include "toolchain/code_features.h"

#include <llvm/Support/TargetSelect.h>

namespace svod {

namespace {

/// What LLVM is told of an architecture: features that all its processors have, or that plain ones would get unasked.
struct ArchRow {
  Arch arch;
  std::string_view baseline, abi;
  std::vector<std::string_view> features;
};

const ArchRow& rowOf(Arch arch) {
  static const ArchRow kRows[] = {
      {Arch::X86_64, "x86-64", "", {}},
      {Arch::AArch64, "generic", "", {}},
      {Arch::Arm, "generic", "aapcs-linux", {"+vfp3d16"}},
      {Arch::RiscV64, "generic-rv64", "lp64d", {"+m", "+a", "+f", "+d", "+c"}},
      {Arch::Wasm32, "mvp", "", {"+bulk-memory", "+mutable-globals", "+nontrapping-fptoint", "+sign-ext"}},
  };
  return kRows[static_cast<size_t>(arch)];
}

/// Names of cpus.def that code is not scheduled for: levels of an architecture, and its baseline, stand for the
/// processor that LLVM takes for them. With its figures for Zen 4 and 5 LLVM loads so far ahead of use that register
/// tiles spill (a convolution takes twice as long on a Zen 5); those of a processor with as many ports do not.
struct ScheduledAs {
  std::string_view name, processor;
};
constexpr ScheduledAs kScheduledAs[] = {
    {"x86-64-v2", "sandybridge"}, {"x86-64-v3", "haswell"},     {"x86-64-v4", "skylake-avx512"},
    {"znver4", "icelake-server"}, {"znver5", "icelake-server"}, {"armv7-a", "generic"},
    {"armv8-a", "generic"},       {"armv8.1-a", "generic"},     {"armv8.2-a", "generic"},
    {"armv8.4-a", "generic"},     {"armv8.6-a", "generic"},     {"armv9-a", "generic"},
    {"rv64gc", "generic-rv64"},   {"rv64gcv", "generic-rv64"},  {"simd128", "generic"}};

}  // namespace

std::string_view baselineName(Arch arch) { return rowOf(arch).baseline; }
std::string_view abiName(Arch arch) { return rowOf(arch).abi; }

std::string tuningName(const CpuTarget& cpu) {
  for (const ScheduledAs& row : kScheduledAs)
    if (row.name == cpu.name) return std::string(row.processor);
  return cpu.name;
}

std::vector<std::string> codeFeatures(const CpuTarget& cpu) {
  const ArchRow& row = rowOf(cpu.arch);
  std::vector<std::string> all(row.features.begin(), row.features.end());
  if (cpu.arch == Arch::Arm && !cpu.has("neon")) all.insert(all.begin(), {"-neon", "-d32"});
  for (const std::string& feature : cpu.features) all.push_back("+" + feature);
  if (cpu.has("avx512f")) all.push_back("+evex512");  // LLVM's word for "512-bit registers may be used"
  return all;
}

void registerCodeGenerators() {
  static const bool done = [] {  // with parsers of assembly: files of C may have some
#define SVOD_REGISTER(name)           \
  LLVMInitialize##name##TargetInfo(); \
  LLVMInitialize##name##Target();     \
  LLVMInitialize##name##TargetMC();   \
  LLVMInitialize##name##AsmPrinter(); \
  LLVMInitialize##name##AsmParser();
    SVOD_REGISTER(X86)
    SVOD_REGISTER(AArch64)
    SVOD_REGISTER(ARM)
    SVOD_REGISTER(RISCV)
    SVOD_REGISTER(WebAssembly)
#undef SVOD_REGISTER
    return true;
  }();
  (void)done;
}

}  // namespace svod
