// From a DAG to a list: places every node in the loop nest and orders it.
#pragma once
#include "ir/graph.h"
#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// A node goes into the innermost loop whose range it depends on, so invariant work leaves loops by construction. In a
/// loop body nodes and inner loops are ordered by their dependencies, ties by structure, except that accumulators add
/// up term by term and long chains of dependent ops advance in turns. Every Range must be closed by one End
/// (mergeLoops). `name` becomes the symbol; other fields of the result are derived from the graph.
Result<LinearKernel> linearize(Graph& graph, UOp sink, std::string name, Numerics numerics);

/// The kernel of a list that is in its order already, such as one read from text.
LinearKernel listedKernel(std::vector<UOp> ops, std::string name, Numerics numerics);

}  // namespace svod
