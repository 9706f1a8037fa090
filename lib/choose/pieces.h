// Streams that read along a line in pieces: padding by reflection or by the edge, zeros around an image, rolled rows.
#pragma once
#include "facts/caps.h"
#include "ir/graph.h"

namespace svod {

/// The loop of a kernel without sums along which indices and gates are linear in a few pieces only becomes a loop for
/// each piece, so that nothing is selected or clamped in the middle. Where that takes fewer instructions by the cost
/// model, and not along the outermost loop, whose tiles threads share. Kernel stage in and out; indices are simplified.
UOp splitPieces(Graph& graph, UOp sink, const Caps& caps);

}  // namespace svod
