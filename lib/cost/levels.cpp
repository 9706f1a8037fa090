#include "cost/levels.h"

#include <limits>

#include "cost/parameters.h"

namespace svod {

int64_t residentBytes(const Caps& caps) { return caps.l2Bytes / parameters::kResidentShare; }

double nanosecondsOf(double cycles, const Caps& caps) { return cycles * 1e3 / caps.clockMHz; }

LevelCost costOf(Level level, const Caps& caps) {
  using namespace parameters;
  const double cyclesPerNs = caps.clockMHz / 1e3, l3 = caps.l3MBs / 1e3;
  switch (level) {
    case Level::L1: return {kVectorsFromL1 * caps.vectorBytes * cyclesPerNs, 1};
    case Level::L2: return {kLinesFromL2 * static_cast<double>(caps.lineBytes) * cyclesPerNs, kLonelyFromL2};
    case Level::L3: return {l3, kLonelyFromL3};
    case Level::Memory: break;
  }
  return {caps.memoryMBs / 1e3, kLonelyFromMemory};
}

double bytesThatStay(Level level, const Caps& caps) {
  using parameters::kCacheShare;
  switch (level) {
    case Level::L1: return kCacheShare * static_cast<double>(caps.l1Bytes);
    case Level::L2: return kCacheShare * static_cast<double>(caps.l2Bytes);
    case Level::L3: return kCacheShare * static_cast<double>(caps.l3Bytes);
    case Level::Memory: break;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace svod
