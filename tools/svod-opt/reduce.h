// Test case reduction: a graph that fails, cut down to what matters.
#pragma once
#include <functional>

#include "ir/graph.h"
#include "support/result.h"

namespace svod {

/// Whether the passes still fail on a graph as they did on the first one.
using StillFails = std::function<bool(Graph& graph, UOp root)>;

/// Takes stores away, puts operands, zeros and ones in the place of values, and shortens ranges, each as long as
/// `stillFails`, until nothing more can go. The result is a graph of its own, without the nodes that were left out.
UOp reduceUop(Graph& result, UOp root, const StillFails& stillFails);

}  // namespace svod
