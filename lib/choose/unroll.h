// Unrolling: short loops of a reduce, written out.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// The first reduce whose value depends on `range`, or null; iterations of its innermost loops are written out where a
/// body of `copies` terms is short.
UOp reduceOver(const KernelFacts& kernel, UOp range);
void unrollInnermost(Chooser& chooser, UOp reduce, int64_t copies);

}  // namespace svod
