// The sums of a kernel: which one belongs to a loop, and what it adds up.
#pragma once
#include <vector>

#include "facts/kernel_facts.h"

namespace svod {

/// The first reduce over loops whose value depends on `range`; null where there is none.
UOp reduceOver(const KernelFacts& kernel, UOp range);
/// The reduce inside of the most loops among those that sum up values which depend on `range`; null where there is
/// none.
UOp deepestReduceOf(const KernelFacts& kernel, UOp range);

/// Reduces that have loops left.
std::vector<UOp> loopedReduces(const KernelFacts& kernel);

/// Terms of one element of the result.
int64_t termsOf(UOp reduce);

/// Whether some of its loops are groups of a dot product instruction; and any reduce of the kernel.
bool sumsGroups(UOp reduce);
bool hasGroups(const KernelFacts& kernel);

/// Whether a tile unit computes some sum of the kernel.
bool hasTiles(const KernelFacts& kernel);

}  // namespace svod
