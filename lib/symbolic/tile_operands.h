// Operands of tile units, as opts and expansion see them: in memory, where the instruction finds rows of them.
#pragma once
#include "ir/tile_unit.h"

namespace svod {

/// Whether rows of A lie a constant distance apart, and the terms of a row side by side. Kernel stage.
bool findsRows(const TileForm& form);
/// Whether groups of B lie a constant distance apart, and all columns of a group side by side, the terms of each
/// together.
bool findsColumns(const TileForm& form);

/// The sum as a tile unit computes it, where the unit finds both. Nothing else is a sum of tiles.
std::optional<TileForm> tileInMemory(UOp reduce);

}  // namespace svod
