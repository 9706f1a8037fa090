#include "choose/tile_windows.h"

#include "choose/copy_lanes.h"
#include "choose/dot_products.h"
#include "choose/tile_units.h"
#include "choose/windows.h"
#include "cost/parameters.h"
#include "facts/local_buffers.h"

namespace svod {

namespace {

/// How many columns tiles compute for one that is wanted, where each line has tiles of its own.
double columnsPerLine(int64_t columns, const TileUnit& unit) {
  return static_cast<double>(roundUp(columns, unit.n)) / static_cast<double>(columns);
}

/// The loop along columns, or the one through all lines where few of a line fill few tiles.
std::optional<uint32_t> columnsOf(Chooser& c, const CopiedLines& loops, const TileUnit& unit) {
  const std::optional<int64_t> line = strideInFill(c.facts(), c.range(loops.line));
  const std::optional<int64_t> column = strideInFill(c.facts(), c.range(loops.column));
  if (!line || !column || *column == 0 || *line % *column != 0) return std::nullopt;
  const int64_t columns = maxExtent(c.range(loops.column)), pitch = *line / *column;
  const double across = static_cast<double>(pitch) / static_cast<double>(columns);
  if (columns >= unit.n && columnsPerLine(columns, unit) <= parameters::kWorthPitch * across) return loops.column;
  const TwoAxesAmount lines{c.numberOf(loops.line), c.numberOf(loops.column), pitch};
  if (!c.apply(OptKind::Pitch, lines, "tiles go on in the next line: fewer of their columns are idle"))
    return std::nullopt;
  return loops.line;
}

/// `side`: of a square of tiles that share what they load.
bool multiply(Chooser& c, const Windows& w, const ChannelGroups& groups, const CopiedLines& loops, uint32_t number,
              int64_t side) {
  const TileUnit& unit = *c.caps.tiles[number];
  const uint32_t filter = idOf(w.filters.back());
  int64_t taps = 1;
  for (UOp r : w.taps) taps *= idOf(r) == groups.loop ? 1 : maxExtent(r);
  if (!fillsTiles(c.range(groups.loop), taps, w.filters.back(), unit)) return false;
  const std::optional<uint32_t> column = columnsOf(c, loops, unit);
  if (!column) return false;
  const int64_t across = ceilDiv(maxExtent(c.range(*column)), unit.n), down = maxExtent(w.filters.back()) / unit.m;
  vectorizeWindows(c, w.slot);
  const CoreAxes axes{number, c.numberOf(filter), c.numberOf(*column), c.numberOf(groups.loop)};
  if (!c.apply(OptKind::Tc, axes, "one instruction multiplies whole tiles")) return false;
  if (side > 1 && down >= side) c.apply(OptKind::Upcast, filter, side, "tiles of filters share what windows read");
  if (side > 1 && across >= side) c.apply(OptKind::Upcast, *column, side, "tiles of columns share weights");
  return haveConstantsInOrder(c);
}

}  // namespace

bool multiplyWindowsInTiles(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (c.caps.tiles.empty() || !w.line || w.filters.empty() || !w.areFixed()) return false;
  Chooser grouped = c;
  const std::optional<ChannelGroups> groups = groupChannels(grouped, w);
  if (!groups) return false;
  const std::optional<CopiedWindows> copy = copyThatStays(grouped, w, maxExtent(w.column));
  if (!copy) return false;
  for (uint32_t number = 0; number < c.caps.tiles.size(); ++number)
    for (const int64_t side : {2, 1}) {
      Chooser trial = copy->kernel;
      if (!multiply(trial, w, *groups, copy->loops, number, side)) continue;
      c.keep(std::move(trial));
      return true;
    }
  return false;
}

}  // namespace svod
