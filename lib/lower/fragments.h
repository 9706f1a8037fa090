// Tensor core fragments: which elements of the operands a lane loads.
#pragma once
#include <functional>

#include "ir/tensor_core_form.h"

namespace svod {

/// Factor `value` (a or b of the form) as the lane that runs holds it: whole matrices of local memory, where
/// `loadsMatrices` says that the GPU has the instruction and they lie there as rows of 8 elements, else a vector of
/// elements. `expanded` writes out what an element still has of ranges.
UOp fragmentOf(Graph& graph, const CoreForm& form, const Fragment& fragment, UOp value, bool loadsMatrices,
               const std::function<UOp(UOp)>& expanded);

}  // namespace svod
