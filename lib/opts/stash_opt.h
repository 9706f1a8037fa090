// The opt that sends a result through the memory that a workgroup shares.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyStash(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// The loops of the one store to parameter `slot`, whose result threads of a workgroup compute together. Errors: BadOpt
/// where there are none.
Result<UOp> nestToStash(UOp sink, uint32_t slot);

}  // namespace svod
