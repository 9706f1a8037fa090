// The loops of a matrix product (GEMM): lanes along an output loop, register tile, packed panels, order of the loops.
#pragma once
#include <optional>

#include "choose/chooser.h"

namespace svod {

/// Lanes along an output loop of what `reduce` computes, a register tile, and the panel of an operand: that of parameter
/// `packed` in any case, another where it pays.
void tileReduceOverOutputLanes(Chooser& chooser, UOp reduce, const Lanes& lanes, std::optional<uint32_t> packed);

}  // namespace svod
