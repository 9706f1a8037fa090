#include "choose/output_lanes.h"

#include <algorithm>

#include "choose/pack_a.h"
#include "choose/pack_b.h"
#include "choose/unroll.h"
#include "cost/far_panels.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "cost/register_tile.h"
#include "facts/panels.h"
#include "facts/patterns.h"
#include "facts/reduces.h"

namespace svod {

namespace {

struct Blocking {
  RegisterTile tile;
  std::optional<Panel> panel;  // what rows of tiles read again
};

// The register tile, narrow enough for the panel to stay in cache that all rows read, and that panel where it matters:
// the one that must be packed in any case, another in matrix products.
Blocking blockingOf(const Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  const KernelFacts& kernel = c.facts();
  const std::vector<uint32_t> laidOut = c.laidOut();
  const bool isProduct = kernel.pattern() == Pattern::Gemm;
  const auto vectorsThatStay = [&](const Panel& panel, int64_t least) {
    return std::max(least, residentBytes(c.caps) / (panel.bytesPerColumn * lanes.width));
  };
  const auto panelFor = [&](UOp rowAxis) {
    return rowAxis ? panelForRows(kernel, reduce, lanes.range, rowAxis, laidOut, packed) : std::nullopt;
  };
  int64_t maxVectors = INT64_MAX;
  for (const Access& a : kernel.accesses)
    if (packed && a.slot == *packed)
      if (std::optional<Panel> panel = panelOf(a, reduce)) maxVectors = vectorsThatStay(*panel, 1);
  RegisterTile tile = bestRegisterTile(c.facts(), c.caps, c.laidOut(), reduce, lanes, maxVectors);
  if (isProduct)
    if (std::optional<Panel> panel = panelFor(tile.rowAxis))
      if (const int64_t stay = vectorsThatStay(*panel, 2); stay < tile.vectors)
        tile = bestRegisterTile(c.facts(), c.caps, c.laidOut(), reduce, lanes, stay);
  // Writing a short sum takes the time: lines as a whole. Groups that lie across rows take more, for every row again.
  const bool isShort = termsOf(reduce) < parameters::kShortSum * lanes.width && !sumsGroups(reduce);
  return {tile, packed || (isProduct && !isShort) ? panelFor(tile.rowAxis) : std::nullopt};
}

}  // namespace

void tileOutputLanes(Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  const auto [tile, panel] = blockingOf(c, nest);
  uint32_t column = idOf(lanes.range);
  if (tile.rowAxis) {
    uint32_t row = idOf(tile.rowAxis);
    const int64_t rowTiles = ceilDiv(maxExtent(tile.rowAxis), tile.rows), columns = tile.vectors * lanes.width;
    if (panel) {
      const int64_t width = maxExtent(lanes.range), stays = residentBytes(c.caps);
      const bool isLaidOut = c.isLaidOut(panel->slot), inGroups = sumsGroups(reduce) && !isLaidOut;
      const bool mayPack = width > columns && rowTiles > 1 && !isLaidOut && panel->bytesPerColumn * columns <= stays;
      const bool pays = mayPack && c.branches.decide(Branch::Pack, paysToPack(*panel, c.caps, width, rowTiles));
      const std::optional<RowPanel> across =
          rowPanelOf(c, reduce, lanes, tile, maxExtent(reduce.src(1)), c.caps.scratchBytes / 2);
      if (across) row = c.innerOfTile(row, across->rows, kSharedCopy);
      column = splitColumns(c, column, row, columns);
      if (packed || inGroups || pays) packPanel(c, *panel, column, lanes.width, tile.vectors);
      if (across) packAcross(c, across->slot, row, idOf(reduce.src(1)), lanes.width);
    }
    c.apply(OptKind::Upcast, row, tile.rows, toText(tile, c.caps));
  }
  c.apply(OptKind::Vector, column, lanes.width, "along this output loop it takes the fewest instructions");
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors, toText(tile, c.caps));
  unrollInnermost(c, reduceOver(c.facts(), c.range(column)), tile.rows * tile.vectors);
}

}  // namespace svod
