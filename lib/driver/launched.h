// How often a kernel is launched: a plan computes that from sizes, which stand in the kernel for it alone.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// The ranges of threads and the hardware indices of a lowered kernel. Before legalization their extents are sizes as a
/// plan writes them; afterwards quotients are what a processor divides.
std::vector<UOp> launchedIn(UOp lowered);

/// The extent as it was before legalization; that of `node` itself where it is none of these.
UOp launchSize(UOp node, std::span<const UOp> launched);

}  // namespace svod
