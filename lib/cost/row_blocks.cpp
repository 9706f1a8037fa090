#include "cost/row_blocks.h"

#include <algorithm>
#include <cmath>

#include "cost/parameters.h"
#include "cost/register_tile.h"
#include "facts/local_buffers.h"
#include "support/integers.h"

namespace svod {

namespace {

// How much more is computed than is needed when `extent` goes in steps of `part`.
double excess(int64_t extent, int64_t part) {
  return static_cast<double>(roundUp(extent, part)) / static_cast<double>(extent);
}

}  // namespace

int64_t rowsOfBlock(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut, const RowKernel& k,
                    int64_t width) {
  const int64_t bytes = bytesOfFills(kernel);
  int64_t best = 0;
  const RegisterTile tile = bestRegisterTile(kernel, caps, laidOut, k.result, {k.column, width}, INT64_MAX, k.row);
  double least = INFINITY;
  for (int64_t vectors = 1; vectors * width <= std::min(parameters::kMostBlockRows, maxExtent(k.row)); ++vectors) {
    const int64_t rows = vectors * width;
    if (rows * bytes > caps.l2Bytes && best > 0) break;
    const double cost =
        excess(maxExtent(k.row), rows) * excess(rows, tile.rowAxis == k.row ? tile.rows : 1) *
        excess(vectors, bestRegisterTile(kernel, caps, laidOut, k.score, {k.row, width}, vectors).vectors) *
        (vectors == 1 ? parameters::kOneVector : 1);
    if (cost < least) best = rows, least = cost;
  }
  return best;
}

}  // namespace svod
