#include "choose/output_lanes.h"

#include <algorithm>

#include "choose/dot_products.h"
#include "choose/laid_out.h"
#include "choose/pack_a.h"
#include "choose/pack_b.h"
#include "choose/parameters.h"
#include "choose/register_tile.h"
#include "choose/unroll.h"
#include "facts/patterns.h"

namespace svod {

namespace {

// Terms of one element of the result.
int64_t termsOf(UOp reduce) {
  int64_t terms = 1;
  for (UOp r : reduce.src().subspan(1)) terms *= maxExtent(r);
  return terms;
}

}  // namespace

void tileOutputLanes(Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  int64_t maxVectors = INT64_MAX;
  for (const Access& a : c.facts().accesses)
    if (packed && a.slot == *packed)
      if (std::optional<Panel> panel = panelOf(a, reduce))
        maxVectors = std::max<int64_t>(1, c.caps.l2Bytes / 2 / (panel->bytesPerColumn * lanes.width));
  RegisterTile tile = chooseRegisterTile(c, reduce, lanes, maxVectors);
  if (tile.rowAxis && c.facts().pattern() == Pattern::Gemm)  // a narrower tile, where that lets the panel stay in cache
    if (std::optional<Panel> panel = panelOperand(c, reduce, lanes, tile.rowAxis, packed)) {
      int64_t fit = std::max<int64_t>(2, c.caps.l2Bytes / 2 / (panel->bytesPerColumn * lanes.width));
      if (fit < tile.vectors) tile = chooseRegisterTile(c, reduce, lanes, fit);
    }
  uint32_t column = idOf(lanes.range);
  if (tile.rowAxis) {
    uint32_t row = idOf(tile.rowAxis);
    int64_t rowTiles = ceilDiv(maxExtent(tile.rowAxis), tile.rows), columns = tile.vectors * lanes.width;
    const bool isShort =
        !packed && termsOf(reduce) < parameters::kShortSum * lanes.width;  // writing takes the time: lines as a whole
    bool gemm = (c.facts().pattern() == Pattern::Gemm && !isShort) || packed;
    std::optional<Panel> panel = gemm ? panelOperand(c, reduce, lanes, tile.rowAxis, packed) : std::nullopt;
    const bool inGroups = panel && sumsGroups(reduce) && !isLaidOut(c, panel->slot);
    const int64_t width = maxExtent(lanes.range);
    const bool pays = panel && width > columns && packs(c, *panel, columns, width, rowTiles);
    std::optional<RowPanel> across;
    if (panel) across = rowPanelOf(c, reduce, lanes, tile, maxExtent(reduce.src(1)), c.caps.scratchBytes / 2);
    if (across) row = innerOfTile(c, row, across->rows, kSharedCopy);
    if (panel && (packed || inGroups || pays)) {
      column = packPanel(c, *panel, column, row, columns);
      vectorizeFill(c, panel->slot, lanes.width, tile.vectors);
    } else if (panel) {
      column = splitColumns(c, column, row, columns);
    }
    if (across) packAcross(c, across->slot, row, idOf(reduce.src(1)), lanes.width);
    c.apply(OptKind::Upcast, row, tile.rows, registersText(c, tile));
  }
  c.apply(OptKind::Vector, column, lanes.width, "along this output loop it takes the fewest instructions");
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors, registersText(c, tile));
  unrollInnermost(c, reduceOver(c.facts(), c.range(column)), tile.rows * tile.vectors);
}

}  // namespace svod
