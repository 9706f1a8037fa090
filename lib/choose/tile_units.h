// Matrix products on the tile units of a processor.
#pragma once
#include "choose/chooser.h"
#include "choose/loop_nest.h"
#include "ir/tile_unit.h"

namespace svod {

/// Sums in groups (`dot`) with lanes along an output loop: two by two tiles share what they load, and a panel of the
/// matrix with the lanes is packed. False (nothing changed) where no tile unit takes the product.
bool multiplyInTiles(Chooser& chooser, const LoopNest& nest);

/// Whether a sum over `groups`, for each of `taps`, is worth tiles with these rows: where its steps do not fill tiles,
/// it takes several of them and no row twice.
bool fillsTiles(UOp groups, int64_t taps, UOp rows, const TileUnit& unit);

/// Whether narrow constants can stand in memory in the order in which tiles read them now: where the last tile starts
/// earlier, some are repeated, and many are too many.
bool haveConstantsInOrder(const Chooser& chooser);

}  // namespace svod
