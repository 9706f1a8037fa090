// How many seeds a test of searches takes.
#pragma once
#include <cstdint>

#include "common/sanitizers.h"

namespace svod {

/// Under a sanitizer each search takes ten times as long, and the next seed goes the same ways.
inline constexpr uint64_t kSeeds = kAddressSanitizer || kThreadSanitizer ? 2 : 6;

}  // namespace svod
