// Shape inference: the shape of a node from its op, sources and arg.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Dims of the node about to be made. Constant dims fold; symbolic ones become Index expressions in `graph`.
std::vector<UOp> inferShape(Graph& graph, Op op, std::span<const UOp> src, const Arg& arg);

/// a + b, a - b, a * b of dims in a normal form: dims that are equal as polynomials are the same node.
UOp addDims(Graph& graph, UOp a, UOp b);
UOp subDims(Graph& graph, UOp a, UOp b);
UOp mulDims(Graph& graph, UOp a, UOp b);
/// a divided by b, rounded toward -infinity, and what is left of a. b must not be 0. Exact quotients lose the division,
/// nested ones become one, and quotients and remainders of equal numbers are the same node where their parts are.
UOp floordivDims(Graph& graph, UOp a, UOp b);
UOp floormodDims(Graph& graph, UOp a, UOp b);
/// The smaller and the larger one; one of the two where bounds decide.
UOp minDims(Graph& graph, UOp a, UOp b);
UOp maxDims(Graph& graph, UOp a, UOp b);
/// The same for indices of kernels: what contains a loop range stays as it is written.
UOp addIndices(Graph& graph, UOp a, UOp b);
UOp subIndices(Graph& graph, UOp a, UOp b);
UOp mulIndices(Graph& graph, UOp a, UOp b);
/// Product of dims; index 1 for none.
UOp numel(Graph& graph, std::span<const UOp> dims);

}  // namespace svod
