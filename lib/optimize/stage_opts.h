// The opts that keep values in a buffer local to the kernel.
#pragma once
#include "optimize/opt.h"

namespace svod {

Result<UOp> applyPack(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyShare(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
