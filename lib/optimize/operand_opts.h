// The opts that decide how operands and results pass the caches.
#pragma once
#include "optimize/opt.h"

namespace svod {

Result<UOp> applyStream(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyPrefetch(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
