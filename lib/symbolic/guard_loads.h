// Gates on loads from memory that may hold nothing.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A load whose index has become the same in all iterations of a loop stands outside of it, and happens even when the
/// loop does not run. Where a parameter may have no elements, each such load gets a gate, unless a loop around it that
/// cannot run then, or the gate it has, keeps it from happening. `sink`: a kernel, or a lowered one.
UOp guardLoads(Graph& graph, UOp sink);

}  // namespace svod
