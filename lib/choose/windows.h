// Kernels whose windows slide over an operand: what the two ways to choose their schedule share.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "choose/chooser.h"

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
std::optional<Windows> windowsOf(const KernelFacts& kernel, const Caps& caps);
/// The same for a convolution or a product with enough filters that read the windows for a copy of them to pay.
std::optional<Windows> windowsToCopy(const KernelFacts& kernel, const Caps& caps);

/// Adds the loop inside of a tile of `amount` iterations: the inner one of a split, or the loop itself.
bool enterTile(Chooser& chooser, UOp loop, int64_t amount, std::vector<uint32_t>& inside);
/// Lines of other tiles, then filters, then what is inside of a tile.
bool orderLoops(Chooser& chooser, const Windows& windows, std::span<const uint32_t> inside);
/// The copy runs along the lines of the input, in whole vectors.
void vectorizeCopy(Chooser& chooser, uint32_t slot);

}  // namespace svod
