// A nest of loops as one over the loops of another nest.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Whether the loops of `nest` are those of `other`, or these and some inside of them that have few iterations
/// together. Both are Ends, of any graphs.
bool fitsLoopsOf(UOp other, UOp nest);
/// `nest` over the loops of `other`, which it fits: stores of its own for each iteration of further loops.
UOp overLoopsOf(Graph& graph, UOp other, UOp nest);

/// What a nest stores, in order.
std::vector<UOp> storesOf(UOp end);
/// A nest with the loops of `end` that does `stores`.
UOp withStores(Graph& graph, UOp end, std::span<const UOp> stores);

}  // namespace svod
