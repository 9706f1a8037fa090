// im2col: convolutions become matrix products. What the windows over some lines of the input read is packed
// once and serves all filters. Padding is resolved while packing, so the inner loop has no gates.
#pragma once
#include "choose/windows.h"

namespace svod {

/// Packs what the windows of a kernel that is a windowsToCopy() read; the rest of it is a matrix product
/// then. False where an opt does not apply: the trial is no good then.
bool packWindows(Chooser& chooser);

}  // namespace svod
