#include "choose/direct_conv.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "choose/filter_lanes.h"
#include "choose/unroll.h"
#include "choose/windows.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "cost/sliding_tile.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"

namespace svod {

namespace {

struct Slide {
  Chooser copied;  // reads the copy
  SlidingTile tile;
  CopiedLines loops;
};

// As many lines per copy as stay in a part of the cache, and the results in registers that take the fewest cycles.
std::optional<Slide> bestSlide(const Chooser& c, const Windows& w) {
  std::optional<Slide> best;
  double least = 0;
  const int64_t lanes = c.caps.vectorBytes / w.elementBytes;
  const int64_t lines = maxExtent(w.line), columns = columnsOfCopy(w, lanes);
  // Where only a run knows how long lines are, vectors of one line that it does not fill are left out, those across
  // lines are not.
  const bool isFree = !constExtent(w.column), isLong = columns >= parameters::kFreeLine * lanes;
  if (isFree && !isLong && suitsFilters(c, w)) return std::nullopt;
  int64_t leastParts = 0;  // copies of more lines than these have are too large
  for (int64_t n : linesOfCopy(w)) {
    const int64_t parts = ceilDiv(lines, n), tiles = parts * ceilDiv(maxExtent(w.column), columns);
    if (parts < leastParts) continue;
    if (best && parts > parameters::kSlideTiles * c.caps.workers) break;
    Slide slide{c, {}, {}};
    const std::optional<CopiedLines> loops = copyLines(slide.copied, w, n, columns);
    if (!loops) continue;
    slide.loops = *loops;
    if (slide.copied.facts().fills.empty()) continue;
    const UOp copy = slide.copied.facts().fills[0];
    if (const int64_t bytes = fillBytes(copy), most = residentBytes(c.caps); bytes > most) {
      leastParts = static_cast<int64_t>(static_cast<double>(lines) * static_cast<double>(bytes) /
                                        (static_cast<double>(n) * static_cast<double>(most)));
      continue;
    }
    const UOp column = slide.copied.range(loops->column);
    const SlidingTileCost cost({w.taps, column, w.filters.empty() ? UOp() : w.filters.back(), copy, n, w.elementBytes},
                               c.caps);
    const bool skips = strideInFill(slide.copied.facts(), column) != 1;
    if (skips && cost.usefulLanes() < parameters::kSlideUseful) continue;
    const std::optional<SlidingTile> tile = cost.best(!skips && !(isFree && isLong));
    if (!tile) continue;
    slide.tile = *tile;
    const double cycles = static_cast<double>(tiles) * cost.cycles(*tile) / busyShare(tiles, c.caps);
    if (!best || cycles < least) least = cycles, best.emplace(slide);
  }
  return best;
}

}  // namespace

bool slideOverCopy(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (!w.line || w.elementBytes < 4) return false;
  std::optional<Slide> slide = bestSlide(c, w);
  if (!slide) return false;
  const SlidingTile& tile = slide->tile;
  Chooser& trial = slide->copied;
  const uint32_t line = slide->loops.line;
  uint32_t column = slide->loops.column;
  if (tile.acrossLines) {
    const int64_t pitch = maxExtent(trial.facts().fills[0].src().back());
    const TwoAxesAmount lines{trial.numberOf(line), trial.numberOf(column), pitch};
    if (!trial.apply(OptKind::Pitch, lines, "lanes go on in the next line: fewer of them are idle")) return false;
    column = line;
  }
  vectorizeWindows(trial, w.slot);
  if (tile.filters > 1)
    trial.apply(OptKind::Upcast, idOf(w.filters.back()), tile.filters, "filters share the vectors they read");
  if (tile.lines > 1) trial.apply(OptKind::Upcast, line, tile.lines, "lines share the weights they read");
  if (!trial.apply(OptKind::Vector, column, c.caps.vectorBytes / w.elementBytes,
                   "neighbouring results read neighbours of the copy"))
    return false;
  const int64_t vectors = std::min(tile.vectors, maxExtent(trial.range(column)));
  if (vectors > 1) trial.apply(OptKind::Upcast, column, vectors, "vectors share the weights they read");
  unrollInnermost(trial, reduceOver(trial.facts(), trial.range(column)), tile.filters * tile.lines * vectors);
  c.keep(std::move(trial));
  return true;
}

}  // namespace svod
