// Which level of memory each loop reads from: lines that accesses move, from the working sets of loops.
#pragma once
#include <array>

#include "cost/bodies.h"
#include "cost/levels.h"

namespace svod {

/// Bytes of whole lines that one access brings from each level over all of its runs, and the part of them that comes in
/// runs too short for prefetchers.
struct Traffic {
  std::array<double, 4> bytes{};  // by Level; those from L1 are not counted
  double lonely = 0;              // 0 to 1
};

/// For every touch. A loop finds again what its last iteration touched in the nearest level that holds all that one
/// iteration touches. Weights (Caps::constants) no kernel has brought near before.
std::vector<Traffic> trafficOf(const Bodies& bodies, const Caps& caps);

/// Nanoseconds to bring that.
double nanosecondsOf(const Traffic& traffic, const Caps& caps);

}  // namespace svod
