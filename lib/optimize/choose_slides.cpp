// Convolutions from a copy of the input without gaps: each element is copied once, padding is part of the copy, and
// neighbouring results read neighbouring elements whatever the tap.
#include <algorithm>

#include "optimize/legality.h"
#include "optimize/strides.h"
#include "optimize/windows.h"

namespace svod {

namespace {

struct SlideTile {
  int64_t filters, lines, vectors, lanes;  // results in registers: filters x lines x vectors
  bool acrossLines;                        // lanes go on in the next line, over elements that are copied for the taps
};

std::optional<SlideTile> tileFor(const Windows& w, const Caps& caps) {
  constexpr double kUseful = 0.7;  // share of the lanes of a line that hold results
  if (!w.line || w.elementBytes < 4 || w.filters.empty()) return std::nullopt;
  int64_t lanes = caps.vectorBytes / w.elementBytes, width = maxExtent(w.column);
  int64_t vectors = (width + lanes - 1) / lanes, together = caps.vectorRegisters >= 32 ? 4 : 2;
  SlideTile tile{(caps.vectorRegisters - together - 2) / together, 1, std::min(vectors, together), lanes, false};
  tile.acrossLines = static_cast<double>(width) < kUseful * static_cast<double>(vectors * lanes);
  if (tile.acrossLines) tile.vectors = together;
  tile.lines = tile.acrossLines ? 1 : std::min(together / tile.vectors, maxExtent(w.line));
  return maxExtent(w.filters.back()) >= tile.filters ? std::optional(tile) : std::nullopt;
}

// Applies the copy for `lines` lines at a time.
bool copyWindows(Chooser& c, const Windows& w, int64_t lines) {
  std::vector<uint32_t> inside;
  if (!enterTile(c, w.line, lines, inside) || !enterTile(c, w.column, maxExtent(w.column), inside)) return false;
  if (!orderLoops(c, w, inside)) return false;
  PackArgs copy{w.slot, {}};
  for (UOp r : w.taps) copy.axes.push_back(c.numberOf(idOf(r)));
  for (uint32_t id : inside) copy.axes.push_back(c.numberOf(id));
  return c.apply(OptKind::Window, copy, "one copy, padding included, serves all taps and filters");
}

int64_t copiedBytes(UOp sink) {
  for (UOp n : toposort(sink))
    if (n.op() == Op::Stage) return stageBytes(n);
  return INT64_MAX;
}

// Elements of the copy between neighbours along `axis`.
std::optional<int64_t> strideOfCopy(UOp sink, UOp axis) {
  for (const Access& a : accessesOf(sink))
    if (!a.slot) return strideOf(a, axis);
  return std::nullopt;
}

// As many lines as leave the copy in a part of the cache, divide the lines well and keep the workers busy.
std::optional<Chooser> bestCopy(const Chooser& c, const Windows& w, const SlideTile& tile) {
  std::optional<Chooser> best;
  double bestScore = 0;
  int64_t lines = maxExtent(w.line);
  for (int64_t n : {lines, int64_t{16}, int64_t{8}, int64_t{4}, int64_t{2}}) {
    if (n > lines || n < tile.lines || (n < lines && (tile.acrossLines || n % tile.lines != 0))) continue;
    Chooser trial = c;
    if (!copyWindows(trial, w, n) || copiedBytes(trial.sink) > c.caps.l2Bytes / 4) continue;
    double tiles = static_cast<double>((lines + n - 1) / n);
    double whole = static_cast<double>(lines) / (tiles * static_cast<double>(n));
    double halo = static_cast<double>(n) / static_cast<double>(n + 1);  // lines that neighbours copy again
    double busy = std::min(1.0, tiles / (2.0 * c.caps.workers));
    double score = whole * halo * (0.85 + 0.15 * busy);
    if (score > bestScore) bestScore = score, best.emplace(trial);
  }
  return best;
}

}  // namespace

bool slideOverCopy(Chooser& c, const Windows& w) {
  std::optional<SlideTile> tile = tileFor(w, c.caps);
  std::optional<Chooser> trial = tile ? bestCopy(c, w, *tile) : std::nullopt;
  if (!trial) return false;
  uint32_t column = idOf(w.column), line = idOf(w.line);
  if (tile->acrossLines) {
    std::vector<UOp> nodes = toposort(trial->sink);
    UOp copy = *std::ranges::find(nodes, Op::Stage, &UOp::op);
    auto pitch = static_cast<int32_t>(maxExtent(copy.src().back()));
    if (strideOfCopy(trial->sink, w.column) != 1) return false;
    AxisList lines{{trial->numberOf(line), trial->numberOf(column), pitch}};
    if (!trial->apply(OptKind::Pitch, lines, "short lines: lanes go on in the next one")) return false;
    column = line;
  } else if (maxExtent(trial->range(line)) < maxExtent(w.line)) {  // the loop over the lines of one copy
    line = idOf(axesOf(trial->sink)[static_cast<size_t>(trial->numberOf(column)) - 1].range);
  }
  vectorizeCopy(*trial, w.slot);
  trial->apply(OptKind::Upcast, idOf(w.filters.back()), tile->filters, "filters share the vectors they read");
  if (tile->lines > 1) trial->apply(OptKind::Upcast, line, tile->lines, "lines share the weights they read");
  if (!trial->apply(OptKind::Vector, column, tile->lanes, "neighbouring results read neighbours of the copy"))
    return false;
  const int64_t vectors = std::min(tile->vectors, maxExtent(trial->range(column)));
  if (tile->vectors > 1) trial->apply(OptKind::Upcast, column, vectors, "vectors share the weights they read");
  c.sink = trial->sink, c.opts = trial->opts;
  return true;
}

}  // namespace svod
