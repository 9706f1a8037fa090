// Whose GPUs: decides which tensor cores there are and what a generation counts.
#pragma once
#include <cstdint>

namespace svod {

/// Generations are the compute capability times ten (cuda), or Apple's GPU family (metal). What is portable has
/// workgroups, the memory they share and barriers, and neither instructions nor tensor cores that others have.
enum class GpuFamily : uint8_t { Cuda, Metal, Portable };

}  // namespace svod
