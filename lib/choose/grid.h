// The grid and the workgroups of a GPU.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// All output loops become a grid; tiles of a sum of products for tensor cores, else workgroups of neighbours.
void fillGrid(Chooser& chooser);

}  // namespace svod
