// Kernels whose windows slide over an operand: what the two ways to choose their schedule share.
#pragma once
#include "optimize/chooser.h"

namespace svod {

struct Windows {
  uint32_t slot;  // parameter the windows slide over
  int64_t elementBytes;
  std::vector<UOp> taps;     // loops of the reduce it depends on, outermost first
  std::vector<UOp> outer;    // output loops that move the window
  std::vector<UOp> filters;  // output loops that read the same window again
  UOp line, column;          // innermost of `outer`: neighbours in the result; line may be null
};

/// Nothing where the kernel has no such operand, or reads it as well where it lies.
std::optional<Windows> windowsOf(const Chooser& chooser);

/// Adds the loop inside of a tile of `amount` iterations: the inner one of a split, or the loop itself.
bool enterTile(Chooser& chooser, UOp loop, int64_t amount, std::vector<uint32_t>& inside);
/// Lines of other tiles, then filters, then what is inside of a tile.
bool orderLoops(Chooser& chooser, const Windows& windows, std::span<const uint32_t> inside);
/// The copy runs along the lines of the input, in whole vectors.
void vectorizeCopy(Chooser& chooser, uint32_t slot);

/// Copies the elements under the windows of some lines once, padding included, and computes from there: lanes along
/// lines, a register tile of filters and vectors. False (nothing changed) where no copy stays in the cache, or elements
/// are skipped and lines fill vectors badly.
bool slideOverCopy(Chooser& chooser, const Windows& windows);

}  // namespace svod
