// What C and the languages of GPUs write alike of a kernel (an internal header of the room).
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>

#include "linearize/linear.h"
#include "support/result.h"
#include "target/c/c_dialect.h"

namespace svod {

/// Ids of what is printed: effects and what they need. The end of the tiled range is not, so what only it needs would
/// be an unused variable.
std::set<uint32_t> neededIn(const LinearKernel& kernel);

/// Another dtype for the bits of `x`, the operand of `bitcast`.
std::string bitcastText(const CDialect& dialect, UOp bitcast, const std::string& x);

/// Two lanes of what `reduce` folds, as one; nullopt if the dialect has no text for it.
std::optional<std::string> foldText(const CDialect& dialect, UOp reduce, std::span<const std::string> halves);

/// The error for an op without text.
Status missingText(UOp node);

}  // namespace svod
