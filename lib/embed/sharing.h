// Which launches are worth the threads of the caller.
#pragma once
#include "embed/interface.h"

namespace svod {

/// Whether the launch may have more than one tile and takes long enough at the greatest sizes.
bool isWorthSharing(const Plan& plan, const Interface& made, const Launch& launch);

/// The range of the tiles of a launch.
ExprRange tilesOf(const Plan& plan, const Interface& made, const Launch& launch);

}  // namespace svod
