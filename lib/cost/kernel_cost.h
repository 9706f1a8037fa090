// How long a kernel takes on one thread: what every loop computes, waits for and brings from each level of memory.
#pragma once
#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// Nanoseconds.
struct KernelCost {
  double computing = 0;  // arithmetic, loads and stores that caches serve, loops
  double waiting = 0;    // for the result of one addition before the next
  double moving = 0;     // lines from the second level cache, the third and memory
  double total = 0;      // of all loops, where these overlap in part
};

/// `kernel`: with its opts. Every variable counts with its maximum; operands in Caps::constants come from memory
/// (but see areConstantsNear), others from the nearest level that holds all that the kernel touches.
KernelCost costOf(const KernelFacts& kernel, const Caps& caps);

/// Nanoseconds on one thread, and by the workers that share the tiles of its thread axes; on a GPU both are those of
/// the whole grid.
struct KernelTime {
  double oneThread, shared;
};
KernelTime timeOf(const KernelFacts& kernel, const Caps& caps);

/// Nanoseconds that no opts of the kernel come below: its arithmetic in full vectors, each value computed once.
double leastNanoseconds(const KernelFacts& kernel, const Caps& caps);

}  // namespace svod
