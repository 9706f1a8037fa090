// In which steps loops walk over an operand: what a prefetch has to know.
#pragma once
#include <optional>
#include <vector>

#include "facts/kernel_facts.h"

namespace svod {

/// A load of neighbours by lanes, and the loop that walks on from there.
struct Walk {
  Access load;
  UOp loop;
};
std::vector<Walk> walksOf(const KernelFacts& kernel);

/// Whether lanes of a load are neighbours in memory.
bool isVector(const KernelFacts& kernel, const Access& load);
/// The loop of the load with the smallest positive stride from `least` on; null when there is none.
UOp nextLoop(const Access& load, int64_t least);
/// Elements side by side that the lanes and copies of a load read at once; the last ones may begin earlier.
int64_t runOf(const Access& load);
bool isReduceLoop(const KernelFacts& kernel, UOp loop);

/// How a reduce reads a buffer.
struct Sweep {
  UOp loop;               // its loop with the largest stride
  int64_t stride = 0;     // of that loop, as the next, in elements
  int64_t all = 1;        // what the reduce reaches
  int64_t apart = 0;      // from one run to the next: the smallest stride beyond a run; 0 where there is one run
  bool isInRuns = false;  // short ones, with gaps between them
};
std::optional<Sweep> sweepOf(const KernelFacts& kernel, const Access& load);

}  // namespace svod
