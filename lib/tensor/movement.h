// Movement ops as index arithmetic: the index of an element in the source, given its index in the result.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

using IndexList = std::vector<UOp>;

/// Index into a row-major storage with these dims.
UOp flatten(Graph& graph, std::span<const UOp> index, std::span<const UOp> dims);
/// The inverse of flatten.
IndexList unflatten(Graph& graph, UOp flat, std::span<const UOp> dims);

/// Axes of two shapes with equal products, matched in order: in [inBegin, inEnd) holds the elements of out
/// [outBegin, outEnd). Groups are as small as the dims allow.
struct AxisGroup {
  size_t inBegin, inEnd, outBegin, outEnd;
};
std::vector<AxisGroup> matchAxes(std::span<const UOp> in, std::span<const UOp> out);

/// Source index for a movement op whose sources' dims were imported into `graph` as `operands` (src1.. of the node).
/// `gate` is the condition under which the source has such an element: for Pad, and for Shrink where its bounds do not
/// follow from those of variables and counters.
struct MovedIndex {
  IndexList index;
  UOp gate;  // null: always
};
MovedIndex moveIndex(Graph& graph, UOp node, std::span<const UOp> sourceDims, std::span<const UOp> operands,
                     std::span<const UOp> index);

}  // namespace svod
