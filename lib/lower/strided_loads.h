// Strided loads as contiguous loads and shuffles, where lanes are near each other in memory.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// A vector address as a scalar and what each lane adds to it.
struct LaneOffsets {
  UOp base;  // Index, shape ()
  std::vector<int64_t> lanes;
};
/// Nothing when the distances between lanes are no constants.
std::optional<LaneOffsets> laneOffsets(Graph& graph, UOp address);

/// Lowered stage in, Lowered stage out. Rewrites gathers of two kinds:
/// - several loads that read neighbours of each other (a block that is transposed): one contiguous load per lane, then
///   a network of two-operand shuffles;
/// - lanes within a few vector lengths (steps of 2 to 4, backwards, interleaved): the vectors they lie in, which never
///   reach beyond the first and the last element that is read, then shuffles.
/// Each element is read at the same place in the order of effects as before; elements between two that were read may be
/// read in addition. Cannot fail.
UOp loadStrides(Graph& graph, UOp sink);

}  // namespace svod
