// What C and CUDA C write alike of a kernel (an internal header of the room).
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// Ids of what is printed: effects and what they need. The end of the tiled range is not, so what only it needs would
/// be an unused variable.
std::set<uint32_t> neededIn(const LinearKernel& kernel);

/// Another dtype for the bits of `x`, the operand of `bitcast`.
std::string bitcastText(UOp bitcast, const std::string& x);

/// Two lanes of what `reduce` folds, as one; nullopt if C has no text for it.
std::optional<std::string> foldText(UOp reduce, std::span<const std::string> halves);

/// The error for an op without text.
Status missingText(UOp node);

}  // namespace svod
