// What local buffers of a kernel mean for its loops.
#pragma once
#include "facts/kernel_facts.h"

namespace svod {

/// Largest number of bytes a stage can take; and all of a kernel together.
int64_t stageBytes(UOp stage);
int64_t bytesOfStages(const KernelFacts& kernel);

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp stage);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool fillsStage(const KernelFacts& kernel, UOp range);

/// Elements of the first local buffer that is read between neighbours along `axis`.
std::optional<int64_t> strideInStage(const KernelFacts& kernel, UOp axis);

}  // namespace svod
