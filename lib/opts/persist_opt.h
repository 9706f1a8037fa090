// The opt by which few workgroups stay and take one tile after the other.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyPersist(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// The one axis of the grid. Errors: BadOpt where there is none, or several.
Result<UOp> axisToPersist(UOp sink);

}  // namespace svod
