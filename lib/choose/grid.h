// The grid and the workgroups of a GPU.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// All output loops become a grid of up to three axes. False where there is none.
bool fillGrid(Chooser& chooser);
/// Workgroups of neighbours in a grid.
void fillWorkgroups(Chooser& chooser);

}  // namespace svod
