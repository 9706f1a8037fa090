// Sums of few terms of which several results read the same elements, as those of a scan.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// An output loop of few iterations on which sums of at most `mostTerms` terms depend, and nothing that they read; null
/// where there is none.
UOp loopOfSharedReads(const KernelFacts& kernel, int64_t mostTerms);

/// All results along that loop stay in registers, and each element is loaded once for them, with lanes along another
/// output loop: where these lie apart in memory, blocks are transposed in registers. False where that takes more
/// instructions than the kernel as it is, or results are too many.
bool sumTogether(Chooser& chooser);

/// The few terms of a sum are written out where they are neighbours in memory and lanes are not: blocks of them are
/// transposed in registers. False where that takes no fewer instructions.
bool turnTerms(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
