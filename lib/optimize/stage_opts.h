// The opts that decide where values are kept: in buffers local to the kernel, or past the caches.
#pragma once
#include "optimize/opt.h"

namespace svod {

Result<UOp> applyPack(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyShare(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyStream(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyKBlock(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
