// Loop structure of kernels as text.
#pragma once
#include <string>

#include "linearize/linear.h"

namespace svod {

/// Nested loops with the stores they contain, two spaces per level:
///   for r0 in 0..64 thread
///     param0[r0*8 .. +8] = ...
/// Of stores that an opt repeated only the first is shown, with the number of the others.
std::string loopsText(const LinearKernel& kernel);

}  // namespace svod
