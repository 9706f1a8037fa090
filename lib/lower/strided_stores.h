// Interleaved stores as contiguous stores of shuffles, where the lanes of several are neighbours of each other.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in, Lowered stage out. Rewrites the stores of one loop body of two kinds:
/// - every second (fourth, eighth) element each, and all elements together: as many stores of neighbours;
/// - lanes far apart, and a run of neighbours for each lane (a tile that is transposed): a store of neighbours for each
///   lane, after a network of two-operand shuffles.
/// Cannot fail.
UOp storeStrides(Graph& graph, UOp sink);

}  // namespace svod
