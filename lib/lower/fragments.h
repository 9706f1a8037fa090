// What a lane loads of the factors of a tensor core.
#pragma once
#include "ir/tensor_core_form.h"

namespace svod {

/// Factor `value` (a or b of the form) at the place that `fragment` gives to `element` of the lane that runs: a value
/// that depends on the lanes, but on no other range of the tile.
UOp fragmentElement(Graph& graph, const CoreForm& form, const Fragment& fragment, UOp value, int element);

}  // namespace svod
