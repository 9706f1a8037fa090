// K-blocking: reductions in blocks, so that what one block reads stays in cache and memory is walked in long runs.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Blocks of a long reduce around the output loops, where its operands would not stay in cache: a tall panel, or a
/// large matrix that few rows are multiplied with. False (nothing changed) where that does not pay.
bool blockReduce(Chooser& chooser, UOp reduce, const Lanes& lanes);

}  // namespace svod
