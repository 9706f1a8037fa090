// K-blocking: reductions in blocks, so that what one block reads stays in cache and memory is walked in long
// runs.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// A large matrix that few rows are multiplied with (GEMV and its like), along whole rows of the matrix.
/// False where the nest is none, or the matrix stays in cache: the trial is no good then.
bool blockFewRows(Chooser& chooser, const LoopNest& nest);
/// A panel of columns too tall for the cache, block by block of its rows. False as above.
bool blockTallPanel(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
