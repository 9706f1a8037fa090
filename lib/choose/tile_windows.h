// Convolutions in the tile units of a processor.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Filters are the rows of a unit and columns of a line its columns: they read groups of channels side by side in the
/// copy of what windows read. False where no unit takes the operands, or the weights are no constants.
bool multiplyWindowsInTiles(Chooser& chooser);

}  // namespace svod
