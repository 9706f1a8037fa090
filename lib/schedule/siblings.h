// Horizontal fusion: kernels over the same elements that read the same memory become one kernel with several results.
#pragma once
#include "schedule/schedule.h"

namespace svod {

/// Joins a launch to an earlier one of the same body when nothing between them stands in the way, their loops are
/// equal, and an element they load is the same in every iteration; in reductions, every element. The later one may use
/// results of the earlier, those of the same iteration (a maximum, and the sum of what it is subtracted from): then it
/// may have a few iterations more inside (results side by side), and one without reductions need share nothing but an
/// output that it reads.
/// Launches of several devices, or whose results are wanted on several, stay apart. Kernels that no launch uses any
/// more are removed. Each is a decision: join or apart.
void joinSiblings(Schedule& schedule, Decisions& decisions);

}  // namespace svod
