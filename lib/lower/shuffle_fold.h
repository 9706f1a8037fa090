// Workgroup reductions: terms that threads hold are folded by warp shuffles, and through shared memory between warps.
#pragma once
#include "ir/graph.h"

namespace svod {

/// The fold of the values that neighbours along a thread range hold, in all of them: shuffles within warps, and beyond
/// these one value of each warp in the Local buffer `slot`. The range stays open in the result. A range that
/// isShuffled() (ir/workgroup.h); 32 threads or fewer need no buffer.
UOp foldThreads(Graph& graph, Op op, UOp value, UOp range, uint32_t slot);
bool needsBuffer(UOp range);

/// What closes an effect's loops over threads, which foldThreads leaves open.
UOp closeThreads(Graph& graph, UOp effect);

}  // namespace svod
