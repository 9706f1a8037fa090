// What local buffers of a kernel mean for its loops.
#pragma once
#include "facts/kernel_facts.h"

namespace svod {

/// Largest number of bytes a fill can take; and all of a kernel together.
int64_t fillBytes(UOp fill);
int64_t bytesOfFills(const KernelFacts& kernel);

/// The most elements of a stage that one thread copies at once: 16 bytes, or fewer where those are no neighbours in
/// memory, or not aligned.
int64_t widestCopy(UOp fill);

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp fill);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool isInFill(const KernelFacts& kernel, UOp range);

/// Elements of the first local buffer that is read between neighbours along `axis`.
std::optional<int64_t> strideInFill(const KernelFacts& kernel, UOp axis);

}  // namespace svod
