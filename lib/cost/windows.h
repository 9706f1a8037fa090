// Operands that the windows of a kernel slide over (convolutions), or whose short lines lie apart, and whether a copy
// of what they read pays.
#pragma once
#include <optional>
#include <vector>

#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

struct Windows {
  uint32_t slot;  // parameter the windows slide over
  int64_t elementBytes;
  std::vector<UOp> taps;     // loops of the reduce it depends on, outermost first
  std::vector<UOp> outer;    // output loops that move the window
  std::vector<UOp> filters;  // output loops that read the same window again
  UOp line, column;          // innermost of `outer`: neighbours in the result; line may be null
  bool isPadded = false;     // some of what the windows read lies outside of the operand

  /// Whether lines are as many and as long in every run.
  bool areFixed() const;
};

/// Of a convolution or a product with enough filters that read the windows for a copy of them to pay; nothing where the
/// kernel has no such operand, or reads it as well where it lies. Where only a run knows the sizes, a copy also pays
/// for windows with padding of a depthwise convolution: every tap would take a mask of its own.
std::optional<Windows> windowsToCopy(const KernelFacts& kernel, const Caps& caps);

}  // namespace svod
