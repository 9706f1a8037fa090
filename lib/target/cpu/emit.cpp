#include "target/cpu/emit.h"

#include "target/cpu/kernel_emitter.h"

namespace svod {

Result<LlvmModule> emitLlvm(std::span<const LinearKernel> kernels, const CpuTarget& cpu) {
  LlvmModule result;
  result.context = std::make_shared<llvm::LLVMContext>();
  result.module = std::make_shared<llvm::Module>("kernels", *result.context);
  result.module->setTargetTriple(cpu.triple);
  for (const LinearKernel& kernel : kernels) SVOD_CHECK(KernelEmitter(*result.module, kernel, cpu).run());
  return result;
}

}  // namespace svod
