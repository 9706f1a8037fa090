// Loops of a kernel that pass over the same row one after the other (softmax, normalization).
#pragma once
#include <vector>

#include "facts/kernel_facts.h"

namespace svod {

/// Numbers of the axes that sweep over the same row: `first`, and the loops of reduces that have its extent.
std::vector<int32_t> sweepsWith(const KernelFacts& kernel, size_t first);
/// An output loop over `least` rows and more whose reduce along `sweep` reads another operand again for every row; null
/// where there is none.
UOp rowsReadingTheSame(const KernelFacts& kernel, UOp sweep, int64_t least);
/// Transcendental values of the kernel.
int64_t transcendentalsOf(const KernelFacts& kernel);

}  // namespace svod
