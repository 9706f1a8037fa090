// Loop collapsing: nested loops that memory sees as one.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Joins output and reduce loops that every access walks as one contiguous loop.
void collapseLoops(Chooser& chooser);

}  // namespace svod
