// Direct convolution over a packed input: each element is copied once, padding is part of the copy, and
// neighbouring results read neighbouring elements whatever the tap.
#pragma once
#include "choose/windows.h"

namespace svod {

/// Copies the elements under the windows of some lines of a windowsToCopy() once, padding included, and
/// computes from there: lanes along lines, a register tile of filters and vectors. False where no copy stays
/// in the cache, or elements are skipped and lines fill vectors badly: the trial is no good then.
bool slideOverCopy(Chooser& chooser);

}  // namespace svod
