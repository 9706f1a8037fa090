// Whose GPUs: decides which tensor cores there are and what a generation counts.
#pragma once
#include <cstdint>

namespace svod {

/// Generations are the compute capability times ten (cuda), or Apple's GPU family (metal).
enum class GpuFamily : uint8_t { Cuda, Metal };

}  // namespace svod
