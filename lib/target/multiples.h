// What is known of an address without running anything.
#pragma once
#include <cstdint>

#include "ir/uop.h"

namespace svod {

/// Whether every value of the integer `x` is seen to be a multiple of `n`: of a Ramp, its first lane.
bool isMultiple(UOp x, int64_t n);

}  // namespace svod
