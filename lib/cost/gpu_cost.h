// How long a kernel takes on a GPU: its instructions, and what its warps move, in waves of workgroups.
#pragma once
#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// Nanoseconds.
struct GpuCost {
  double computing = 0;  // instructions of all threads, products of tensor cores among them
  double cache = 0;      // sectors between units and L2
  double memory = 0;     // each element that is touched, once
  double busy = 1;       // share of the units' threads that have work
  double total = 0;      // the largest of the three, with the time that a launch takes
};

/// Who multiplies in a kernel with its opts: single lanes, or tensor cores for warps or warpgroups.
enum class Multipliers : uint8_t { Lanes, Warps, Warpgroups };
Multipliers multipliersOf(const KernelFacts& kernel);

/// `kernel`: with its opts. Every variable counts with its maximum.
GpuCost gpuCostOf(const KernelFacts& kernel, const Caps& caps);

}  // namespace svod
