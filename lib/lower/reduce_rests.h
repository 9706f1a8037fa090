// Remainder loops of reductions: the terms behind the last whole step.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A reduction that takes some terms at a time, in lanes or accumulators, masks those beyond the last in every step.
/// Here it becomes one over the whole steps, without masks, and one over the vectors or terms that are left. They are
/// folded together before the lanes are, which reassociates as lanes do. Of a constant number of terms the last step
/// stands behind the others, with the mask that it has: all are added in the same order. Kernel stage in and out, for a
/// CPU.
UOp splitReduceRests(Graph& graph, UOp sink);

}  // namespace svod
