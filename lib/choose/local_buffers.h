// What local buffers of a kernel mean for its loops.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp stage);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool fillsStage(UOp sink, UOp range);

}  // namespace svod
