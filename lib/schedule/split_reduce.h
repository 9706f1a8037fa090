// Large reductions to few elements in two steps, so that the first has parallel work.
#pragma once
#include "ir/graph.h"
#include "ir/numerics.h"

namespace svod {

/// Rewrites Reduce nodes whose input is much larger than their result. Floats are left alone in strict mode, where the
/// order of additions is fixed.
UOp splitReduces(Graph& graph, UOp sink, Numerics numerics);

}  // namespace svod
