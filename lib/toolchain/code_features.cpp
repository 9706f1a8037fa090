#include "toolchain/code_features.h"

#include <llvm/Support/TargetSelect.h>

namespace svod {

std::string_view baselineName(Arch arch) { return arch == Arch::X86_64 ? "x86-64" : "generic"; }

std::string tuningName(const CpuTarget& cpu) {
  if (cpu.name == "x86-64-v2") return "sandybridge";
  if (cpu.name == "x86-64-v3") return "haswell";
  return cpu.name == "x86-64-v4" ? "skylake-avx512" : cpu.name;
}

std::vector<std::string> codeFeatures(const CpuTarget& cpu) {
  std::vector<std::string> all;
  for (const std::string& feature : cpu.features) all.push_back("+" + feature);
  if (cpu.has("avx512f")) all.push_back("+evex512");  // LLVM's word for "512-bit registers may be used"
  return all;
}

void registerCodeGenerators() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  (void)done;
}

}  // namespace svod
