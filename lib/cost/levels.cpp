#include "cost/levels.h"

#include <limits>

#include "cost/parameters.h"

namespace svod {

int64_t residentBytes(const Caps& caps) { return caps.l2Bytes / parameters::kResidentShare; }

double nanosecondsOf(double cycles, const Caps& caps) { return cycles * 1e3 / caps.clockMHz; }

LevelCost costOf(Level level, const Caps& caps) {
  constexpr double kVectorsFromL1 = 2;   // per cycle
  constexpr double kLinesFromL2 = 0.65;  // per cycle
  const double cyclesPerNs = caps.clockMHz / 1e3, l3 = caps.l3MBs / 1e3;
  switch (level) {
    case Level::L1: return {kVectorsFromL1 * caps.vectorBytes * cyclesPerNs, 1};
    case Level::L2: return {kLinesFromL2 * static_cast<double>(caps.lineBytes) * cyclesPerNs, 1.4};
    case Level::L3: return {l3, 2.2};
    case Level::Memory: break;
  }
  return {caps.memoryMBs / 1e3, 3.5};
}

double bytesThatStay(Level level, const Caps& caps) {
  constexpr double kShare = 0.75;
  switch (level) {
    case Level::L1: return kShare * static_cast<double>(caps.l1Bytes);
    case Level::L2: return kShare * static_cast<double>(caps.l2Bytes);
    case Level::L3: return kShare * static_cast<double>(caps.l3Bytes);
    case Level::Memory: break;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace svod
