// Direct convolution over a packed input with lanes along filters: none is idle whatever the length of a line.
#pragma once
#include "choose/windows.h"

namespace svod {

/// Whether filters fill whole vectors, whose weights are loaded as they lie.
bool suitsFilters(const Chooser& chooser, const Windows& windows);

/// Copies the elements under the windows as slideOverCopy() does, for as many lines as stay in the cache, and computes
/// from there: weights of neighbouring filters are lanes, an element of the copy serves all of them, and results are
/// turned before they are stored. False where weights of neighbouring filters do not lie side by side, filters fill no
/// vector, or no copy stays in the cache: the trial is no good then.
bool multiplyFilters(Chooser& chooser);

}  // namespace svod
