// Stores whose lanes are not neighbours in memory, but fill the gaps of each other, as contiguous stores of
// shuffles.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in, Lowered stage out. Where the stores of one loop body write every second (fourth, eighth)
/// element each and all elements together, they become as many stores of neighbours. Cannot fail.
UOp storeStrides(Graph& graph, UOp sink);

}  // namespace svod
