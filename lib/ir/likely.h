// Sizes of the likely run: what choices are made for where the sizes of a graph are free.
#pragma once
#include <cstdint>

#include "ir/uop.h"

namespace svod {

/// The value of a dim or an extent where every variable has its likely value; within its bounds, its greatest value
/// where it depends on more than variables.
int64_t likelySize(UOp dim);

/// The elements of a tensor of that run; at least one, INT64_MAX beyond it.
int64_t likelyNumel(UOp tensor);

}  // namespace svod
