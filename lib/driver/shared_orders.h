// Weights that the kernel of all sizes and the one for larger sizes read in one order.
#pragma once
#include <span>
#include <vector>

#include "driver/compile.h"
#include "driver/compile_kernels.h"

namespace svod {

/// The kernels of a plan, or those of one of its variants, by kernel, and what each was compiled with.
struct SharedKernels {
  std::span<CompiledKernel> kernels;
  std::vector<const CompileOptions*> options;
};

/// Marks the kernels from `first` on that CompiledKernel::givesOrder shall hold for: they are for larger sizes than the
/// one that they stand for, and the only ones that do so.
void chooseOrders(Compilation& compilation, size_t first);

/// Compiles the kernels of all sizes again, in whose place marked ones stand: they read weights in the order of these,
/// whose tiles of rows read one panel after the other. Those that cannot stay as they are. To be called when all are
/// compiled.
Status shareOrders(std::span<const SharedKernels> all, const CompileOptions& options);

}  // namespace svod
