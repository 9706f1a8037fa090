// dot: products of bytes summed in groups, as one instruction does.
#pragma once
#include <optional>

#include "optimize/opt.h"

namespace svod {

Result<UOp> applyDot(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// Whether `reduce` sums products of two bytes, each from memory and less a number that does not depend on
/// its loops, so that dot can apply to its loops.
bool sumsBytes(Graph& graph, UOp reduce);

}  // namespace svod
