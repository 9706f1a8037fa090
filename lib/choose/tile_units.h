// Matrix products on the tile units of a processor.
#pragma once
#include "choose/chooser.h"
#include "choose/loop_nest.h"

namespace svod {

/// Sums in groups (`dot`) with lanes along an output loop: two by two tiles share what they load, and a panel of the
/// matrix with the lanes is packed. False (nothing changed) where no tile unit takes the product.
bool multiplyInTiles(Chooser& chooser, const LoopNest& nest);

/// Whether narrow constants can stand in memory in the order in which tiles read them now: where the last tile starts
/// earlier, some are repeated, and many are too many.
bool haveConstantsInOrder(const Chooser& chooser);

}  // namespace svod
