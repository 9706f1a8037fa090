#include "cost/sliding_tile.h"

#include <algorithm>

#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/axes.h"
#include "support/integers.h"

namespace svod {

using namespace parameters;

SlidingTileCost::SlidingTileCost(const SlidingCopy& c, const Caps& caps)
    : caps_(caps), lines_(c.lines), width_(maxExtent(c.column)), pitch_(maxExtent(c.copy.src().back())),
      lanes_(caps.vectorBytes / c.elementBytes), filters_(c.filter ? maxExtent(c.filter) : 1) {
  for (UOp tap : c.taps) taps_ *= maxExtent(tap);
  for (UOp dim : c.copy.src().subspan(1)) copied_ *= maxExtent(dim);
}

bool SlidingTileCost::fits(const SlidingTile& t) const {
  const int64_t vectors = t.lines * t.vectors, gates = t.acrossLines && caps_.maskedBytes == 0 ? kSlideGates : 0;
  return t.filters <= filters_ &&
         t.filters * vectors + vectors + caps_.vectorRegisters / kSlideOthers + gates <= caps_.vectorRegisters;
}

double SlidingTileCost::usefulLanes() const {
  return static_cast<double>(width_) / static_cast<double>(roundUp(width_, lanes_));
}

int64_t SlidingTileCost::vectorsOfLine() const { return ceilDiv(width_, lanes_); }

double SlidingTileCost::cycles(const SlidingTile& t) const {
  const int64_t vectors = t.lines * t.vectors;
  const double products = static_cast<double>(t.filters * vectors) / caps_.fmaPerCycle;
  const double loads = (kSlideVector * static_cast<double>(vectors) + static_cast<double>(t.filters)) / kSlideLoads;
  const int64_t steps = t.acrossLines ? ceilDiv(ceilDiv(lines_ * pitch_ - (pitch_ - width_), lanes_), t.vectors)
                                      : ceilDiv(lines_, t.lines) * ceilDiv(vectorsOfLine(), t.vectors);
  const double turns = static_cast<double>(ceilDiv(filters_, t.filters) * steps * taps_);
  const double busy = std::max(products, loads) + kSlideOverlap * std::min(products, loads) + kSlideTurn;
  const double turn = std::max(busy, static_cast<double>(caps_.fmaLatency));  // each tap waits for the one before
  const int64_t weightBytes = filters_ * taps_ * caps_.vectorBytes / lanes_;  // a vector holds lanes_ elements
  const double weights =
      static_cast<double>(weightBytes) / (weightBytes > residentBytes(caps_) ? kWeightsFromBeyond : kWeightsFromL2);
  return turns * turn + static_cast<double>(copied_ / lanes_) * kSlideCopy + weights;
}

std::optional<SlidingTile> SlidingTileCost::best(bool mayCrossLines) const {
  std::optional<SlidingTile> found;
  auto offer = [&](const SlidingTile& t) {
    if (!fits(t)) return;
    if (!found || cycles(t) < cycles(*found) * (t.vectors < found->vectors ? kSlideClearly : 1)) found = t;
  };
  for (int64_t vectors = kSlideMostVectors; vectors >= 1; --vectors)
    for (int64_t filters = std::min(kSlideMostFilters, caps_.vectorRegisters / vectors); filters >= 1; --filters) {
      if (mayCrossLines) offer({filters, 1, vectors, true});
      if (vectors > vectorsOfLine()) continue;
      for (int64_t lines = std::min(lines_, kSlideMostVectors / vectors); lines >= 1; --lines)
        offer({filters, lines, vectors, false});
    }
  return found;
}

double busyShare(int64_t tiles, const Caps& caps) {
  const int64_t turns = ceilDiv(tiles, caps.workers);
  const double busy = static_cast<double>(tiles) / static_cast<double>(turns * caps.workers);
  return 1 - kIdleShare * (1 - busy);
}

}  // namespace svod
