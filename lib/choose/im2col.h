// im2col: convolutions become matrix products. What the windows over some lines of the input read is packed once and serves
// all filters. Padding is resolved while packing, so the inner loop has no gates.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Copies what the windows of a convolution read. True when its lanes and register tile are chosen as well; else the
/// rest of it is a matrix product.
bool packWindows(Chooser& chooser);

}  // namespace svod
