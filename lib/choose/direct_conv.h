// Direct convolution over a packed input: each element is copied once, padding is part of the copy, and neighbouring results
// read neighbouring elements whatever the tap.
#pragma once
#include "choose/windows.h"

namespace svod {

/// Copies the elements under the windows of some lines once, padding included, and computes from there: lanes along
/// lines, a register tile of filters and vectors. False (nothing changed) where no copy stays in the cache, or elements
/// are skipped and lines fill vectors badly.
bool slideOverCopy(Chooser& chooser, const Windows& windows);

}  // namespace svod
