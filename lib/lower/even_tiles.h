// Tiles of rows that share the rows of a run evenly, so that the last one is no smaller than it has to be.
#pragma once
#include <optional>

#include "facts/row_tiles.h"
#include "ir/graph.h"

namespace svod {

/// One of the tiles, of 8 rows in tiles of 6 at most the two of 4: it begins `shift` rows from where whole tiles would,
/// which is zero or less, and has `rows` rows, where rows are left. Both are Index expressions of the tile's counter.
struct EvenTile {
  UOp shift, rows;
};

/// Kernel stage: the tile of a nest, if few of them are likely and the nest knows its rows by their number alone. Not
/// so where it reads a local buffer that the loop over tiles fills, and where a quotient or an extent was simplified by
/// the place of whole tiles.
std::optional<EvenTile> evenTileOf(Graph& graph, UOp end, const RowTile& tile);

}  // namespace svod
