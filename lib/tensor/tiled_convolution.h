// One Winograd convolution in tiles: two transforms and a product, and its epilogue as part of the second transform.
#pragma once
#include <array>
#include <set>

#include "tensor/winograd_form.h"

namespace svod {

/// Where a block of rows of tiles is: the counter of the loop over blocks, and the first row.
struct TileBlock {
  UOp counter, first;
  int64_t rows;
};

/// Builds the graph of one convolution. Places of a tile come first, then groups, batch, tiles, and channels or
/// filters: lanes run along these in all three kernels. The ids of what its transforms compute are added to `uncut`.
class TiledConvolution {
 public:
  TiledConvolution(Model& model, const Convolution& conv, const WinogradForm& form, UOp reduce,
                   std::set<uint32_t>& uncut);

  UOp rows() const { return tiles_[0]; }  // of tiles
  /// The results, tile by tile: the axes of the convolution with more than one element in their order, each axis of
  /// tiles with the places in a tile behind it. Not stored. Of all rows of tiles, or of a block of them.
  UOp results(const TileBlock* block = nullptr);
  /// The axis of `results` along rows of tiles.
  size_t rowAxis() const;
  /// Such tiles as the convolution has them, without what lies beyond its last result.
  UOp untiled(UOp tiles);
  /// The shape of its results with the last two axes in tiles; nothing where these are not the windows' or the last
  /// tiles reach beyond them.
  std::vector<UOp> tiledShape() const;

 private:
  using Values = std::vector<UOp>;

  UOp dim(int32_t axis) const { return product_.shape()[static_cast<size_t>(axis)]; }
  UOp count(std::span<const int32_t> axes) const;
  Values tileShape(std::span<const int32_t> last, std::vector<size_t>& position) const;
  std::vector<int32_t> resultAxes() const;
  /// The number of the window along an axis of the product; 2 for none.
  size_t windowOf(int32_t axis) const;

  UOp asWhole(UOp value);

  UOp transformedData();
  UOp products(UOp data);
  UOp transformedResults(UOp sums);

  Model& model_;
  Graph& g_;
  const Convolution& conv_;
  const WinogradForm& form_;
  UOp reduce_, product_;
  std::set<uint32_t>& uncut_;
  std::array<UOp, 2> tiles_, part_;  // along each window: all, and of the block
  UOp first_;                        // row of the block; null: of all
};

}  // namespace svod
