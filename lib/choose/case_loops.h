// Loop unswitching by unrolling: short loops whose counter decides what is computed.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Writes out short output loops whose counter selects among values that every iteration computes.
void expandCases(Chooser& chooser);

}  // namespace svod
