// Transposes in registers.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// Blocks of as many rows as a vector has lanes are transposed in registers, so that loads and stores both run along
/// lines.
void blockTransposed(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
