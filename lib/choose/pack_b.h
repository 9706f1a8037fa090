// Pack B: a panel of columns of a matrix, copied once for all row tiles that read it.
#pragma once
#include <optional>
#include <vector>

#include "choose/chooser.h"
#include "facts/accesses.h"

namespace svod {

/// What a reduce reads of one operand for one column of the result.
struct Panel {
  uint32_t slot;
  std::vector<UOp> reduceAxes;  // the ones the operand depends on, outermost first
  int64_t elementBytes, bytesPerColumn;
  int64_t rowStride;  // elements between neighbours along the innermost of them
};
/// Nothing when the operand depends on no loop of the reduce, or in no regular way.
std::optional<Panel> panelOf(const Access& load, UOp reduce);

/// The operand that is contiguous along the lanes and the same for all rows: reused by every row tile. `slot` names one
/// that is to be packed whatever its strides.
std::optional<Panel> panelOperand(const Chooser& chooser, UOp reduce, const Lanes& lanes, UOp rowAxis,
                                  std::optional<uint32_t> slot);
inline constexpr const char* kCopyLanes = "the copy runs in whole vectors";
/// The copy into the panel of parameter `slot` runs in vectors.
void vectorizeFill(Chooser& chooser, uint32_t slot, int64_t width, int64_t vectors);

inline constexpr const char* kPanelOutside = "one panel of columns serves all rows";
/// Worth it when many row tiles read the panel again and its rows are far apart in memory; a few are enough where the
/// matrix, which has `width` columns, does not stay in the cache. Asks Branch::Pack where there is a choice.
bool packs(Chooser& chooser, const Panel& panel, int64_t columns, int64_t width, int64_t rowTiles);
/// The columns of one panel inside of the rows, so that a row of the register tile takes one vector after the other and
/// little is held beside the sums. Returns the loop that carries the lanes then: the one inside of the column tile, or
/// the columns' loop itself if one tile holds them all.
uint32_t splitColumns(Chooser& chooser, uint32_t column, uint32_t row, int64_t columns);
/// The same, with the panel packed between the column loop and the row loop.
uint32_t packPanel(Chooser& chooser, const Panel& panel, uint32_t column, uint32_t row, int64_t columns);

}  // namespace svod
