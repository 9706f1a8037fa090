#include "choose/direct_conv.h"

#include <algorithm>

#include "choose/pack_b.h"
#include "choose/parameters.h"
#include "choose/unroll.h"
#include "facts/accesses.h"
#include "opts/legality.h"

namespace svod {

namespace {

// Results in registers: filters x lines x vectors.
struct SlideTile {
  int64_t filters = 1, lines = 1, vectors = 1;
  bool acrossLines = false;  // lanes go on in the next line, over elements that are copied for the taps
};

struct Slide {
  Chooser copied;  // reads the copy
  SlideTile tile;
  uint32_t line;  // the loop over the lines of one copy
};

// Applies the copy for `lines` lines at a time. The loop over those; nothing where an opt does not apply.
std::optional<uint32_t> copyWindows(Chooser& c, const Windows& w, int64_t lines) {
  std::vector<uint32_t> inside;
  if (!enterTile(c, w.line, lines, inside) || !enterTile(c, w.column, maxExtent(w.column), inside)) return std::nullopt;
  if (!orderLoops(c, w, inside)) return std::nullopt;
  PackArgs copy{w.slot, {}};
  for (UOp r : w.taps) copy.axes.push_back(c.numberOf(idOf(r)));
  for (uint32_t id : inside) copy.axes.push_back(c.numberOf(id));
  if (!c.apply(OptKind::Window, copy, "one copy, padding included, serves all taps and filters")) return std::nullopt;
  return inside[0];
}

UOp copyIn(const KernelFacts& kernel) {
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Stage) return n;
  return {};
}

// Elements of the copy between neighbours along `axis`.
std::optional<int64_t> strideOfCopy(const KernelFacts& kernel, UOp axis) {
  for (const Access& a : kernel.accesses)
    if (!a.slot) return strideOf(a, axis);
  return std::nullopt;
}

// What one copy of `lines` lines costs, and how.
class SlideCost {
 public:
  SlideCost(const Windows& w, const Caps& caps, UOp copy, int64_t lines)
      : caps_(caps), lines_(lines), width_(maxExtent(w.column)), pitch_(maxExtent(copy.src().back())),
        lanes_(caps.vectorBytes / w.elementBytes), filters_(maxExtent(w.filters.back())) {
    for (UOp tap : w.taps) taps_ *= maxExtent(tap);
    for (UOp dim : copy.src().subspan(1)) copied_ *= maxExtent(dim);
  }

  bool fits(const SlideTile& t) const {
    const int64_t vectors = t.lines * t.vectors;
    return t.filters <= filters_ && t.filters * vectors + vectors + parameters::kSlideOthers <= caps_.vectorRegisters;
  }

  /// Share of the lanes of whole vectors that hold results where each line has its own.
  double usefulLanes() const {
    return static_cast<double>(width_) / static_cast<double>(ceilDiv(width_, lanes_) * lanes_);
  }

  double cycles(const SlideTile& t) const {
    const int64_t vectors = t.lines * t.vectors;
    const double products = static_cast<double>(t.filters * vectors) / caps_.fmaPerCycle;
    const double loads = (parameters::kSlideVector * static_cast<double>(vectors) + static_cast<double>(t.filters)) /
                         parameters::kSlideLoads;
    const int64_t steps = t.acrossLines ? ceilDiv(ceilDiv(lines_ * pitch_ - (pitch_ - width_), lanes_), t.vectors)
                                        : ceilDiv(lines_, t.lines) * ceilDiv(ceilDiv(width_, lanes_), t.vectors);
    const double turns = static_cast<double>(ceilDiv(filters_, t.filters) * steps * taps_);
    const double turn =
        std::max(products, loads) + parameters::kSlideOverlap * std::min(products, loads) + parameters::kSlideTurn;
    return turns * turn + static_cast<double>(copied_ / lanes_) * parameters::kSlideCopy + weightCycles();
  }

  std::optional<SlideTile> best(bool mayCrossLines) const {
    std::optional<SlideTile> found;
    auto offer = [&](const SlideTile& t) {
      if (!fits(t)) return;
      if (!found || cycles(t) < cycles(*found) * (t.vectors < found->vectors ? parameters::kSlideClearly : 1))
        found = t;
    };
    for (int64_t vectors = parameters::kSlideMostVectors; vectors >= 1; --vectors)
      for (int64_t filters = std::min(parameters::kSlideMostFilters, caps_.vectorRegisters / vectors); filters >= 1;
           --filters) {
        if (mayCrossLines) offer({filters, 1, vectors, true});
        if (vectors > ceilDiv(width_, lanes_)) continue;
        for (int64_t lines = std::min(lines_, parameters::kSlideMostVectors / vectors); lines >= 1; --lines)
          offer({filters, lines, vectors, false});
      }
    return found;
  }

 private:
  // All weights are read once per copy.
  double weightCycles() const {
    const int64_t bytes = filters_ * taps_ * caps_.vectorBytes / lanes_;  // a vector holds lanes_ elements
    return static_cast<double>(bytes) /
           (bytes > caps_.l2Bytes / 2 ? parameters::kWeightsFromBeyond : parameters::kWeightsFromL2);
  }

  const Caps& caps_;
  int64_t lines_, width_, pitch_, lanes_, filters_;
  int64_t taps_ = 1, copied_ = 1;
};

// As many lines per copy as stay in a part of the cache, and the results in registers that take the fewest cycles.
std::optional<Slide> bestSlide(const Chooser& c, const Windows& w) {
  std::optional<Slide> best;
  double least = 0;
  const int64_t lines = maxExtent(w.line);
  for (int64_t parts = 1; parts <= lines; ++parts) {
    const int64_t n = ceilDiv(lines, parts);
    if (parts > 1 && n == ceilDiv(lines, parts - 1)) continue;
    if (best && parts > parameters::kSlideTiles * c.caps.workers) break;
    Slide slide{c, {}, 0};
    const std::optional<uint32_t> line = copyWindows(slide.copied, w, n);
    if (!line) continue;
    slide.line = *line;
    const UOp copy = copyIn(slide.copied.facts());
    if (!copy) continue;
    if (const int64_t bytes = stageBytes(copy), most = c.caps.l2Bytes / 2; bytes > most) {
      parts = std::max(parts, static_cast<int64_t>(static_cast<double>(lines) * static_cast<double>(bytes) /
                                                   (static_cast<double>(n) * static_cast<double>(most))) -
                                  1);
      continue;  // where the copy may be small enough
    }
    const SlideCost cost(w, c.caps, copy, n);
    const bool skips = strideOfCopy(slide.copied.facts(), w.column) != 1;
    if (skips && cost.usefulLanes() < parameters::kSlideUseful) continue;
    const std::optional<SlideTile> tile = cost.best(!skips);
    if (!tile) continue;
    slide.tile = *tile;
    const int64_t tiles = ceilDiv(lines, n), turns = ceilDiv(tiles, c.caps.workers);
    const double busy = static_cast<double>(tiles) / static_cast<double>(turns * c.caps.workers);
    const double cycles = static_cast<double>(tiles) * cost.cycles(*tile) / (1 - parameters::kIdleShare * (1 - busy));
    if (!best || cycles < least) least = cycles, best.emplace(slide);
  }
  return best;
}

}  // namespace

bool slideOverCopy(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (!w.line || w.elementBytes < 4 || w.filters.empty()) return false;
  std::optional<Slide> slide = bestSlide(c, w);
  if (!slide) return false;
  const SlideTile& tile = slide->tile;
  Chooser& trial = slide->copied;
  const uint32_t line = slide->line;
  uint32_t column = idOf(w.column);
  if (tile.acrossLines) {
    const int64_t pitch = maxExtent(copyIn(trial.facts()).src().back());
    const TwoAxesAmount lines{trial.numberOf(line), trial.numberOf(column), pitch};
    if (!trial.apply(OptKind::Pitch, lines, "lanes go on in the next line: fewer of them are idle")) return false;
    column = line;
  }
  vectorizeCopy(trial, w.slot);
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
