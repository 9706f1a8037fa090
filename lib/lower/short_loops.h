// Loops of tiles on an axis whose size only a run knows end where the axis does.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A loop inside of a tile has a constant number of iterations, and where the last tile is not whole the stores of some
/// of them are gated off. Here it runs as far as one of its stores can happen. Kernel stage in and out, for a CPU;
/// tiles of constant axes stay as they are.
UOp shortenLoops(Graph& graph, UOp sink);

}  // namespace svod
