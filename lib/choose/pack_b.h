// Pack B: a panel of columns of a matrix, copied once for all row tiles that read it.
#pragma once
#include "choose/chooser.h"
#include "facts/panels.h"

namespace svod {

/// The columns of one panel inside of the rows, so that a row of the register tile takes one vector after the other and
/// little is held beside the sums. The columns' own loop goes outside of the rows' loop, so that one column panel
/// serves all rows; where panels are all that comes from far, outside of every loop that reads the same ones. Asks
/// Branch::Order. Returns the loop that carries the lanes then: the one inside of the column tile, or the columns' loop
/// itself if one tile holds them all.
uint32_t splitColumns(Chooser& chooser, uint32_t column, uint32_t row, int64_t columns);
/// Packs the panel, whose columns are the loop `column`; the copy runs in whole vectors, as many as the register tile.
void packPanel(Chooser& chooser, const Panel& panel, uint32_t column, int64_t width, int64_t vectors);

}  // namespace svod
