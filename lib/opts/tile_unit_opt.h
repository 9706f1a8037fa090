// tc on a processor: a sum of products in tiles that one instruction of a tile unit computes.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyTileUnit(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// Whether the unit finds both factors of every sum that tc made for it in memory, as it reads them.
Status checkTileSums(UOp sink, const Caps& caps);

}  // namespace svod
