#include "choose/im2col.h"

#include <algorithm>

#include "choose/collapse_loops.h"
#include "choose/copy_lanes.h"
#include "choose/windows.h"
#include "cost/levels.h"
#include "cost/parameters.h"

namespace svod {

namespace {

struct WindowTile {
  int64_t lines, columns;
};

// How much of the result one panel serves: columns that fill vectors well, in what half the second level
// cache holds, and enough tiles for the workers.
WindowTile tileOf(const Windows& w, const Caps& caps) {
  int64_t perColumn = w.elementBytes, lanes = caps.vectorBytes / w.elementBytes;
  for (UOp r : w.taps) perColumn *= maxExtent(r);
  int64_t fit = std::max(residentBytes(caps) / perColumn, 2 * lanes);
  int64_t columns = maxExtent(w.column), lines = w.line ? maxExtent(w.line) : 1, best = 1;
  if (columns > fit || lines == 1) {
    return {1, std::min({columns, fit / (2 * lanes) * 2 * lanes, parameters::kWideTile * lanes})};
  }
  double bestScore = 0, workers = static_cast<double>(caps.workers);
  for (int64_t n = 1; n <= lines && n * columns <= fit; ++n) {
    int64_t width = n * columns;
    auto useful = [&](int64_t unit) { return static_cast<double>(width) / static_cast<double>(roundUp(width, unit)); };
    // Filters are streamed once per tile; the last tile may repeat lines of the one before.
    double stream = static_cast<double>(width) / static_cast<double>(width + 2 * lanes);
    double tiles = static_cast<double>(ceilDiv(lines, n)), busy = std::min(1.0, tiles / (2 * workers));
    double whole = static_cast<double>(lines) / (tiles * static_cast<double>(n));
    double score = std::max(useful(2 * lanes), 0.97 * useful(4 * lanes)) * stream * whole *
                   (1 - parameters::kIdleShare * (1 - busy));
    if (score > bestScore) bestScore = score, best = n;
  }
  return {best, columns};
}

bool packTile(Chooser& c, const Windows& w, const WindowTile& tile) {
  std::vector<uint32_t> inside;
  if (w.line && tile.lines > 1 && !enterTile(c, w.line, tile.lines, inside)) return false;
  if (!enterTile(c, w.column, tile.columns, inside) || !orderLoops(c, w, inside)) return false;
  PackArgs pack{w.slot, {}};
  for (UOp r : w.taps) pack.axes.push_back(c.numberOf(idOf(r)));
  for (uint32_t id : inside) pack.axes.push_back(c.numberOf(id));
  return c.apply(OptKind::Pack, pack, "what the windows read, as the panel of a matrix product");
}

}  // namespace

bool packWindows(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (!w.areFixed() || !packTile(c, w, tileOf(w, c.caps))) return false;
  collapseLoops(c);
  vectorizeWindows(c, w.slot);
  return true;
}

}  // namespace svod
