// Cooperative copies: all threads of a workgroup fill a shared-memory buffer together.
#pragma once
#include <span>

#include "ir/graph.h"

namespace svod {

/// Lowered stage in and out: each loop of type Spread becomes rounds in which thread t takes iteration t, in the order
/// in which hardware counts `threads`, the last of which is the fastest. Few rounds are written out. A last round that
/// not all threads have work in is gated; where it fills a ring, the ring has room for it and gets zeros.
UOp dealSpreads(Graph& graph, UOp sink, std::span<const UOp> threads);

}  // namespace svod
