// tc: a sum of products in tiles that the lanes of a warp compute together, as one instruction of a tensor core does.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyTensorCore(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
