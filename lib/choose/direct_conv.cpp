#include "choose/direct_conv.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "choose/filter_lanes.h"
#include "choose/line_sums.h"
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

/// Looks for the copy, and the results in registers, that take the fewest cycles for all lines.
class SlideSearch {
 public:
  SlideSearch(const Chooser& c, const Windows& w)
      : c_(c), w_(w), lanes_(c.caps.vectorBytes / w.elementBytes), isFree_(!constExtent(w.column)) {}

  std::optional<Slide> run() {
    const int64_t widest = columnsOfCopy(w_, lanes_), narrow = parameters::kFreeLine * lanes_;
    // Where only a run knows how long lines are, vectors of one line that it does not fill are left out, those across
    // lines are not.
    isLong_ = widest >= narrow;
    if (isFree_ && !isLong_ && suitsFilters(c_, w_)) return std::nullopt;
    offerLines(widest);
    if (isFree_ && widest > narrow) offerLines(narrow);
    return std::move(best_);
  }

 private:
  /// As many lines per copy as stay in a part of the cache.
  void offerLines(int64_t columns) {
    const int64_t lines = maxExtent(w_.line);
    int64_t leastParts = 0;  // copies of more lines than these have are too large
    int offered = 0;
    for (int64_t n : linesOfCopy(w_)) {
      const int64_t parts = ceilDiv(lines, n), tiles = parts * ceilDiv(maxExtent(w_.column), columns);
      if (parts < leastParts) continue;
      if (best_ && parts > parameters::kSlideTiles * c_.caps.workers) break;
      if (isFree_ && offered == parameters::kFreeCopies) break;
      Slide slide{c_, {}, {}};
      const std::optional<CopiedLines> loops = copyLines(slide.copied, w_, n, columns);
      if (!loops) continue;
      slide.loops = *loops;
      if (slide.copied.facts().fills.empty()) continue;
      if (const int64_t bytes = fillBytes(slide.copied.facts().fills[0]), most = residentBytes(c_.caps); bytes > most)
        leastParts = static_cast<int64_t>(static_cast<double>(lines) * static_cast<double>(bytes) /
                                          (static_cast<double>(n) * static_cast<double>(most)));
      else
        offer(std::move(slide), n, tiles), ++offered;
    }
  }

  void offer(Slide slide, int64_t lines, int64_t tiles) {
    const UOp copy = slide.copied.facts().fills[0], column = slide.copied.range(slide.loops.column);
    const SlidingTileCost cost(
        {w_.taps, column, w_.filters.empty() ? UOp() : w_.filters.back(), copy, lines, w_.elementBytes}, c_.caps);
    const bool skips = strideInFill(slide.copied.facts(), column) != 1;
    if (skips && cost.usefulLanes() < parameters::kSlideUseful) return;
    const std::optional<SlidingTile> tile = cost.best(!skips && !(isFree_ && isLong_));
    if (!tile) return;
    slide.tile = *tile;
    const double cycles = static_cast<double>(tiles) * cost.cycles(*tile) / busyShare(tiles, c_.caps);
    if (!best_ || cycles < least_) least_ = cycles, best_.emplace(std::move(slide));
  }

  const Chooser& c_;
  const Windows& w_;
  const int64_t lanes_;
  const bool isFree_;
  bool isLong_ = false;
  std::optional<Slide> best_;
  double least_ = 0;
};

}  // namespace

bool slideOverCopy(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (!w.line || w.elementBytes < 4 || sumsLines(c, w.column, c.caps.vectorBytes / w.elementBytes)) return false;
  std::optional<Slide> slide = SlideSearch(c, w).run();
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
