// Dot product instructions (VNNI, vdpbf16ps, bfdot): which sums are theirs, as expansion sees them.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace svod {

/// A sum of products of two bytes, or of two bf16, along the Dot range `range`. A null factor of bytes stands for ones.
struct DotForm {
  UOp range, a, b;
};
/// Nothing where the reduce has no Dot range, or where its value is no such product of loads and arithmetic
/// on small numbers.
std::optional<DotForm> dotFormOf(UOp reduce);

/// The lanes of a factor: those of the results, if it differs between them, and for each the group along
/// `dot`.
struct DotLanes {
  UOp dot, vector;  // vector: null where one group serves all results
  int64_t group() const { return dot.src(0).constInt(); }
  int64_t count() const { return group() * (vector ? vector.src(0).bounds().max : 1); }
};
/// What index arithmetic gives for each lane: a Ramp where they are neighbours, else a vector.
UOp spreadOver(Graph& graph, UOp index, const DotLanes& lanes);

}  // namespace svod
