// Coalesced stores of tensor core results: the lanes of a warp exchange words until they fill half of each sector.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in and out, vectors joined: of two stores of 4 bytes a constant apart, lanes in pairs exchange halves
/// by a shuffle, where together they then fill sectors: the first store has both halves of the rows of one lane of each
/// pair, the second one those of the other.
UOp fillSectors(Graph& graph, UOp sink);

}  // namespace svod
