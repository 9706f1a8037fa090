// A fault in what a pass leaves: the graph stays legal, and its values are wrong.
#pragma once
#include <string_view>

#include "pass/pass.h"

namespace svod {

/// Which graphs a fault shows in: all; those with vectors, which opts make; those with threads of a workgroup; all, but
/// in the last bit alone.
enum class FaultIn : uint8_t { All, Vectors, Threads, LastBit };

/// What `pass` left, with one added to all floats that are stored in memory that others see, or with their last bit
/// changed.
Result<UOp> withFault(const Pass& pass, UOp root, PassContext& cx, FaultIn where = FaultIn::All);

}  // namespace svod
