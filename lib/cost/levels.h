// The levels of memory, as one core sees them.
#pragma once
#include "facts/caps.h"

namespace svod {

enum class Level : uint8_t { L1, L2, L3, Memory };

/// How lines come from a level. The figures of scripts/calibrate that they stand for are in docs/cost.md.
struct LevelCost {
  double bytesPerNs;   // of lines that prefetchers see coming
  double lonelyLines;  // how many times as long a line takes that lies alone, far from the one before
};
LevelCost costOf(Level level, const Caps& caps);

/// Bytes that stay in a level while a loop comes back to them: a share of it, for what passes by takes the rest. Memory
/// holds all.
double bytesThatStay(Level level, const Caps& caps);
inline bool fits(Level level, double bytes, const Caps& caps) { return bytes <= bytesThatStay(level, caps); }

/// Groups of places of a level: lines that lie as many lines apart compete for one.
double placesIn(Level level, const Caps& caps);
/// How many times the bytes of `runs` runs of `lines` lines count whose first bytes lie `apart`, where strides let many
/// lines compete for few of the `places`; 1 or more.
double crowding(double apart, double runs, double lines, double places, const Caps& caps);

/// Bytes of an operand up to which it stays in L2 while others stream by once: what kernels are shaped by.
int64_t residentBytes(const Caps& caps);
inline bool isResident(double bytes, const Caps& caps) { return bytes <= static_cast<double>(residentBytes(caps)); }

/// Of one core at the clock of full vectors.
double nanosecondsOf(double cycles, const Caps& caps);

}  // namespace svod
