// Sums of few terms of which several results read the same elements, as those of a scan.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// An output loop of few iterations on which sums of at most `mostTerms` terms depend, and nothing that they read; null
/// where there is none.
UOp loopOfSharedReads(const KernelFacts& kernel, int64_t mostTerms);

/// All results along that loop stay in registers, and each element is loaded once for them. False where they are too
/// many.
bool sumTogether(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
