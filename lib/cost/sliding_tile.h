// What a direct convolution costs that reads a copy of some lines of its input, padding included (implicit GEMM).
#pragma once
#include <optional>
#include <span>

#include "facts/caps.h"
#include "ir/graph.h"

namespace svod {

/// Results in registers: filters x lines x vectors.
struct SlidingTile {
  int64_t filters = 1, lines = 1, vectors = 1;
  bool acrossLines = false;  // lanes go on in the next line, over elements that are copied for the taps
};

/// Loops of a convolution and the copy that serves `lines` lines of its result.
struct SlidingCopy {
  std::span<const UOp> taps;  // loops of the reduce
  UOp column, filter;         // output loops: neighbours in the result, and what reads the same window again, if any
  UOp copy;                   // Fill
  int64_t lines, elementBytes;
};

/// Borrows `caps`.
class SlidingTileCost {
 public:
  SlidingTileCost(const SlidingCopy& copy, const Caps& caps);

  /// The tile with the fewest cycles, wider ones first; nothing where none fits. `mayCrossLines`: neighbours of a line
  /// are neighbours in the copy.
  std::optional<SlidingTile> best(bool mayCrossLines) const;
  /// Share of the lanes of whole vectors that hold results where each line has its own.
  double usefulLanes() const;
  /// Of all that one copy serves: products, loads, the copy, and weights, which are read once for it.
  double cycles(const SlidingTile& tile) const;

 private:
  bool fits(const SlidingTile& tile) const;
  int64_t vectorsOfLine() const;

  const Caps& caps_;
  int64_t lines_, width_, pitch_, lanes_, filters_;
  int64_t taps_ = 1, copied_ = 1;
};

/// Share of its worth that the time of workers has which share `tiles`: some of them idle at the end.
double busyShare(int64_t tiles, const Caps& caps);

}  // namespace svod
