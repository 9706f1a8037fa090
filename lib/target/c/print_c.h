// LinearKernel to portable C11.
#pragma once
#include <span>
#include <string>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

struct PrintCOptions {
  /// Parameters do not overlap (one Param stands for shared storage), so pointers are `restrict`.
  bool restrictPointers = true;
};

/// One file with a function `void NAME(void* const* buffers, const int64_t* values, int64_t tile_begin,
/// int64_t tile_end, void* scratch)` per kernel. It compiles without warnings as strict C11 and needs libm only.
/// Vector values are loops over lanes, fused so that a compiler vectorizes them: -O3 -fno-math-errno -fno-trapping-math.
/// Thread-safe, deterministic. Fails with Verify if a kernel was not legalized.
Result<std::string> printC(std::span<const LinearKernel> kernels, const PrintCOptions& options = {});

}  // namespace svod
