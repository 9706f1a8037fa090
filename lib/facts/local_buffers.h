// What local buffers of a kernel mean for its loops.
#pragma once
#include "facts/kernel_facts.h"

namespace svod {

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp stage);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool fillsStage(const KernelFacts& kernel, UOp range);

}  // namespace svod
