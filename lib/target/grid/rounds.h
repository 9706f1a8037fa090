// How often loops of GPUs are written out (an internal header of the room).
#pragma once
#include <cstdint>

#include "linearize/linear.h"

namespace svod {

/// Rounds of a loop that stand behind each other; 0 where the compiler may choose.
int64_t roundsOf(const LinearKernel& kernel, UOp range);

}  // namespace svod
