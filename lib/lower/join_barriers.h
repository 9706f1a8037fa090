// Barrier elimination: barriers of the same loops that do not wait for each other become one.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in and out: barriers of the same loops of which none waits for another become one, after what each of
/// them comes after: operands that are copied for the same step are met for once.
UOp joinBarriers(Graph& graph, UOp sink);

}  // namespace svod
