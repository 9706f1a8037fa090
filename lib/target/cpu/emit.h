// LinearKernel to LLVM IR. Legalization ran before: what is left is written down as it stands, nothing is
// decided here.
#pragma once
#include <memory>
#include <span>

#include "linearize/linear.h"
#include "machine/cpu.h"
#include "support/result.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace svod {

/// An LLVM module with the context it lives in. One thread at a time.
struct LlvmModule {
  std::shared_ptr<llvm::LLVMContext> context;  // outlives the module: declared first, destroyed last
  std::shared_ptr<llvm::Module> module;
};

/// One function per kernel, named after it, with the calling convention of all CPU kernels:
/// `void f(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd, void* scratch)`.
/// Buffers are in the order of `params`, values in the order of `variables`; scratch is 64-byte aligned and
/// holds scratchBytes. Different params are different memory, but for KernelParam::inPlace. `cpu` decides only
/// between instruction sequences for the same result, but for the rounding of dot products of bf16. Thread-safe.
/// Errors: CompileFailed for a kernel that legalization should not have let through, Unsupported for f64 Mulacc
/// on a CPU without FMA.
Result<LlvmModule> emitLlvm(std::span<const LinearKernel> kernels, const CpuTarget& cpu);

}  // namespace svod
