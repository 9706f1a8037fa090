// Lanes along a reduce: partial sums in a vector, folded at its end.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Several independent accumulators hide the latency of one chain.
void tileReduceLanes(Chooser& chooser, UOp reduce, const Lanes& lanes);

}  // namespace svod
