// Unrolling: short loops of a reduce, written out.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Iterations of the innermost loops of a reduce are written out where a body of `copies` terms is short; nothing for
/// null.
void unrollInnermost(Chooser& chooser, UOp reduce, int64_t copies);

}  // namespace svod
