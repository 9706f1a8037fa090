// Remainder loops of reductions: the terms behind the last whole step, where only a run knows how many there are.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A reduction that takes some terms at a time, in lanes or accumulators, masks those beyond the last in every step.
/// Here it becomes one over the whole steps, without masks, and one over the vectors or terms that are left. They are
/// folded together before the lanes are, which reassociates as lanes do. Kernel stage in and out, for a CPU; sums of a
/// constant number of terms stay as they are.
UOp splitReduceRests(Graph& graph, UOp sink);

}  // namespace svod
