// How many rows of a product a kernel that holds them (attention) should take at a time.
#pragma once
#include <span>

#include "facts/caps.h"
#include "facts/row_kernel.h"

namespace svod {

/// Rows of a block: whole vectors of `width` lanes, few beyond the last row, the last register tile of the result and
/// that of the rows' product, and what the second level cache has room for. 0 for fewer rows than lanes. `laidOut`:
/// slots of operands that stand in memory as the kernel reads them.
int64_t rowsOfBlock(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut, const RowKernel& k,
                    int64_t width);

}  // namespace svod
