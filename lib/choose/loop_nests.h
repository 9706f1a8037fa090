// How the loops of a kernel run on one core of a CPU.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Lanes, register tiles and, for matrix products, loop order and packed panel.
void tileForVectors(Chooser& chooser);

}  // namespace svod
