// Loops whose counter is only a number for a pair of counters.
#pragma once
#include "ir/graph.h"

namespace svod {

/// A loop of which indices use both the quotient and the remainder by n becomes a loop of each, as `reshape` of a
/// transposed value asks for: what is read then has one stride along each. Where n divides the extent, and whatever
/// else is divided fits to n. Kernel stage in and out; indices are simplified.
UOp splitRanges(Graph& graph, UOp sink);

}  // namespace svod
