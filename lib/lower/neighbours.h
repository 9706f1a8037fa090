// Vectorized memory access on GPUs: neighbouring loads and stores become one access of up to 16 bytes.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in and out, with hardware indices. Loads of single elements, and stores of them in one group, that lie
/// side by side from a place on that is known to be aligned become one of 2, 4 or 8 elements, 16 bytes at most. Where
/// they are gated, they share the gate. Parameters are aligned to 16 bytes.
UOp joinNeighbours(Graph& graph, UOp sink);

}  // namespace svod
