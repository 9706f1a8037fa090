// The opts that decide how operands and results pass the caches.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyStream(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyPrefetch(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// Whether vectors are stored to parameter `slot`, whether vector loads of it, or of its copy, prefetch, and whether
/// any loads of it do in a kernel with lanes.
bool storesVectors(UOp sink, uint32_t slot);
bool prefetchesVectors(UOp sink, uint32_t slot);
bool prefetchesForLanes(UOp sink, uint32_t slot);

}  // namespace svod
