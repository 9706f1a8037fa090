// Loops over blocks of rows of tiles, whose results meet in a port of the model.
#pragma once
#include <set>

#include "tensor/tiled_convolution.h"

namespace svod {

/// Adds ports and loops to the model, or takes those that an earlier schedule of it added.
class TileLoops {
 public:
  /// `nodes`: those of the graph, whose ports and loops are not to be taken.
  TileLoops(Model& model, std::span<const UOp> nodes);

  /// A loop over `all` rows, `rows` at a time; the last block may repeat some of the one before.
  TileBlock open(int64_t all, int64_t rows);
  /// All rows of `part`, that of a block, which lie along `axis`. `label` names the kernel.
  UOp close(const TileBlock& block, UOp part, size_t axis, UOp all, const std::string& label);
  /// `sink` with the loops in front of what needs them.
  UOp withLoops(UOp sink) const;

 private:
  UOp buffer(DType dtype, std::span<const UOp> dims);

  Model& model_;
  Graph& g_;
  std::set<uint32_t> ports_, loops_;  // in use
  std::vector<UOp> ends_;
};

}  // namespace svod
