// Lanes along a reduce: partial sums in a vector, folded at its end.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// Several independent accumulators hide the latency of one chain.
void tileReduceLanes(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
