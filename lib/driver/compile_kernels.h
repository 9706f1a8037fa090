// Kernels from the schedule to their code, several at once.
#pragma once
#include <span>
#include <string>

#include "compile/kernel.h"
#include "compile/options.h"

namespace svod {

struct KernelTask {
  CompiledKernel* kernel;
  const CompileOptions* options;
};

/// The opts asked for this kernel, or null.
const KernelOpts* requestedOpts(const std::string& kernel, const CompileOptions& options);

/// Compiles all kernels on `jobs` threads. The first error in their order is returned, whichever came first in time.
Status compileKernels(std::span<const KernelTask> tasks, const CompileOptions& options);

}  // namespace svod
