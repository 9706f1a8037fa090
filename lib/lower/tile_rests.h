// Remainder tiles: what is left of an axis behind its last whole tile, where only a run knows its size.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A register tile on such an axis computes all of its rows and stores those that there are. Here a nest that sums up
/// in loops becomes one for each of a few tiles, the whole one and smaller ones for what is left. Each stands behind a
/// loop that runs once or not at all. Kernel stage in and out, for a CPU; axes of constant extent stay as they are.
UOp splitTileRests(Graph& graph, UOp sink);

}  // namespace svod
