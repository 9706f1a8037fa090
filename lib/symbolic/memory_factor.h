// Factors of products of warpgroups, as opts and expansion see them: in local memory, where the instruction finds them.
#pragma once
#include <optional>

#include "ir/tensor_core_form.h"

namespace svod {

/// `factor` (a or b of the form) where tile and terms begin.
UOp firstOfTile(Graph& graph, const CoreForm& form, UOp factor);

/// How far parts of a factor are from each other in bytes, 0 for rows of terms (ir/warpgroup_operand.h). Nothing where
/// its rows (columns, for b) do not lie so in a buffer that all threads share, with a swizzle of 128 bytes. Kernel
/// stage.
std::optional<int64_t> partsApart(const CoreForm& form, UOp factor);

/// Whether the core of the form finds both of its factors.
bool findsFactors(const CoreForm& form);

}  // namespace svod
