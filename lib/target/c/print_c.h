// LinearKernel to portable C11.
#pragma once
#include <span>
#include <string>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// One file with a function `void NAME(void* const* buffers, const int64_t* values, int64_t tile_begin,
/// int64_t tile_end, void* scratch)` per kernel. It compiles without warnings as strict C11 and needs libm only.
/// Vector values are loops over lanes, fused so that a compiler vectorizes them: -O3 -fno-math-errno
/// -fno-trapping-math. Parameters do not overlap, so pointers are `restrict`, except where the result may be written in
/// place. Thread-safe, deterministic. Fails with Verify if a kernel was not legalized.
Result<std::string> printC(std::span<const LinearKernel> kernels);

/// The same in two parts: the function of one kernel, and the file of some.
Result<std::string> printFunction(const LinearKernel& kernel);
std::string joinFunctions(std::span<const std::string> functions);
/// What stands in front of functions, with no header of the C library and none of its functions but those of <math.h>
/// that a compiler has no instruction for.
std::string freestandingHead(std::string_view code);

}  // namespace svod
