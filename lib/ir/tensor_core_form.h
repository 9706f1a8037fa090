// Which sums of a kernel tensor cores compute, as opts and expansion see them.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor_core.h"

namespace svod {

/// The factors of a sum of products, without casts to the dtype of the sum where both widen the same dtype. Products of
/// f16 or bf16 that are widened before they are added count as well: they are not rounded, unless numerics are strict.
struct Factors {
  UOp x, y;
};
std::optional<Factors> factorsOf(UOp reduce);
/// Of a value that a sum adds up.
std::optional<Factors> factorsOfTerm(UOp value);

/// The result of a tensor core as a kernel with the opt tc walks it: Warp ranges, and the Core ranges of the elements
/// that a lane has. A range is one run of the fragment; high bits come first.
struct CoreTile {
  std::vector<UOp> lanes, elements;
};
CoreTile coreTileOf(UOp sink);

struct TileRange {
  UOp range;
  FragmentRun run;
};
/// Adds products along the Core range `terms`: rows of `a` times columns of `b`.
struct CoreForm {
  const TensorCore* core;
  UOp terms, a, b;
  std::vector<TileRange> ranges;  // of the tile
};
/// Nothing where the reduce closes no Core range, or is no sum that a tensor core of the table computes for the tile.
std::optional<CoreForm> coreFormOf(const CoreTile& tile, UOp reduce);
bool closesCoreRange(UOp reduce);

}  // namespace svod
