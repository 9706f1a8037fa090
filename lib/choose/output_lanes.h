// The loops of a matrix product (GEMM): lanes along an output loop, register tile, packed panels, order of the loops.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// Lanes along an output loop of what the nest sums up, a register tile, and the panel of an operand: the one that must
/// be packed in any case, another where it pays.
void tileOutputLanes(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
