// Tensor cores of a GPU: which axes of a sum of products they take, and how many tiles a warp and a workgroup compute.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Tiles of a sum of products for a tensor core of the target, some per warp and per workgroup. False (nothing changed)
/// where none applies.
bool useTensorCore(Chooser& chooser);

}  // namespace svod
