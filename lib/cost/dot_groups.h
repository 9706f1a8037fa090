// Terms of a sum in groups, which one instruction sums up (dot products of bytes and bf16).
#pragma once
#include <span>

#include "facts/kernel_facts.h"

namespace svod {

/// Whether the elements of a group along `axis` are neighbours in every operand that is not copied for the lanes of the
/// result, which are along `column`. Those in slots `laidOut` stand in memory as the kernel reads them.
bool isDense(const KernelFacts& kernel, std::span<const uint32_t> laidOut, UOp reduce, UOp axis, UOp column);
/// Enough results share what is copied into groups.
bool paysToGroup(const KernelFacts& kernel, std::span<const uint32_t> laidOut, UOp reduce, UOp column);

}  // namespace svod
