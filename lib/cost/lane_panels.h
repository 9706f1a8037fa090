// Operands that must be packed for lanes along a loop to pay.
#pragma once
#include <span>
#include <vector>

#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// Operands of a reduce that are not contiguous along `axis` but the same for many rows: copied once to a panel where
/// they are contiguous, they cost no more than others. Those in slots `laidOut` are copied when the plan is built: of
/// convolutions they are taken where no other line fills a vector.
std::vector<Access> panelsForLanes(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                                   UOp axis, int64_t width);

}  // namespace svod
