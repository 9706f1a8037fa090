#include "cost/levels.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "cost/parameters.h"

namespace svod {

int64_t residentBytes(const Caps& caps) { return caps.l2Bytes / parameters::kResidentShare; }

double nanosecondsOf(double cycles, const Caps& caps) { return cycles * 1e3 / caps.clockMHz; }

double placesIn(Level level, const Caps& caps) {
  const int64_t bytes = level == Level::L1 ? caps.l1Bytes : level == Level::L2 ? caps.l2Bytes : caps.l3Bytes;
  return static_cast<double>(
      std::bit_floor(static_cast<uint64_t>(std::max(bytes / caps.lineBytes / parameters::kWays, int64_t{1}))));
}

double crowding(double apart, double runs, double lines, double places, const Caps& caps) {
  const auto line = static_cast<double>(caps.lineBytes);
  const auto between = static_cast<uint64_t>(apart / line);
  if (between == 0 || apart != static_cast<double>(between) * line) return 1;
  return std::max(1.0, std::min({static_cast<double>(between & (~between + 1)), places, runs}) / lines);
}

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
