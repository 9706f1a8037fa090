// tc on a processor: a sum of products in tiles that one instruction of a tile unit computes.
#pragma once
#include "ir/tile_unit.h"
#include "opts/opt.h"

namespace svod {

Result<Applied> applyTileUnit(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// How many of `extent` groups tc makes a step: as many as the unit takes and the extent is a multiple of. 0: fewer
/// than an instruction is worth.
int64_t groupsOfStep(UOp extent, const TileUnit& unit);

/// Whether the unit finds both factors of every sum that tc made for it in memory, as it reads them.
Status checkTileSums(UOp sink, const Caps& caps);

}  // namespace svod
