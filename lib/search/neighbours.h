// Transfer from similar kernels: what a tuning log says of kernels that are like another one.
#pragma once
#include <string>
#include <vector>

#include "search/correction.h"
#include "search/measure.h"
#include "tuning/log.h"

namespace svod {

/// A list to begin with, and where it comes from.
struct Hint {
  std::vector<OptOp> opts;
  std::string origin;
  bool operator==(const Hint&) const = default;
};

/// The kernel that is tuned, and where.
struct TunedKernel {
  UOp sink;          // Kernel stage, before any opt, simplified
  std::string hash;  // as KernelRecord::kernel; its own records are none of a neighbour
  std::string target, machine;
};

struct Neighbours {
  std::vector<Hint> hints;  // what won for them anywhere, or was the fastest; nearest kernel first
  Correction correction;    // of their times on this machine
};

/// Of the nearest kernels of the log: of one class, with as many output and reduce loops, and operands of the same
/// types. The distance is the sum of |log2| of the ratios of extents.
Neighbours neighboursOf(const TunedKernel& kernel, const Caps& caps, const TuningLog& log);

}  // namespace svod
