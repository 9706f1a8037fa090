// Register tiles of rows on an axis whose size only a run knows: what is left behind the last whole tile has smaller
// tiles.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// A register tile of which `copies` are the rows: those for which `inside`, a comparison, holds are there. Of the
/// loops of its nest the first `depth` stand around the choice of a tile, the others are in each.
struct RowTile {
  UOp copies, inside;
  size_t depth = 0;
};

/// Kernel stage: the tile of a nest that sums up in loops, and whose stores are all gated by its rows. Rows of nothing
/// but loads and stores take as long where some are not stored, and local buffers stay one: these have none.
std::optional<RowTile> rowTileOf(UOp end);
/// The loops that each tile of the nest has for itself, and the rows.
std::vector<UOp> rangesOfNests(UOp end, const RowTile& tile);
/// Whether a range stays a loop, and needs one of its own in each nest.
bool staysLoop(UOp range);

}  // namespace svod
