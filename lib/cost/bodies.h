// The loops of a kernel with what runs in each: the innermost body of a value is where it is computed.
#pragma once
#include <span>
#include <vector>

#include "cost/ops.h"
#include "facts/kernel_facts.h"

namespace svod {

/// A load or store with the loops it runs in. Those that were expanded into copies and lanes are innermost.
struct Touch {
  Access access;
  UOp storage;             // a parameter, or a buffer of the kernel
  std::vector<UOp> loops;  // outermost first
  size_t body;             // of those, how many are loops that run
};

struct Body {
  std::vector<UOp> loops;  // that run, outermost first
  double runs = 1;
  Cycles each;              // of one run
  double accumulators = 0;  // registers that are carried from run to run
  double additions = 0;     // of one run that wait for each other
  std::vector<size_t> touches;
};

struct Bodies {
  std::vector<Body> all;
  std::vector<Touch> touches;
};

/// `joinsProducts`: a product that only a sum takes is one instruction with the addition.
Bodies bodiesOf(const KernelFacts& kernel, const Caps& caps, bool joinsProducts);

inline double extentOf(UOp range) { return static_cast<double>(std::max<int64_t>(maxExtent(range), 1)); }

}  // namespace svod
