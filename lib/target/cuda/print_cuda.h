// LinearKernel to CUDA C that calls a prelude for everything that CUDA does.
#pragma once
#include <string_view>

#include "target/grid/print_grid.h"

namespace svod {

/// What one thread of a workgroup does, as printGrid says it. The text needs a prelude in front of it: that of
/// cudaPrelude(), or another one with the same functions, in C or C++.
Result<GridText> printCuda(const LinearKernel& kernel, size_t arguments, int64_t threads);

/// The prelude for NVRTC, which needs no header.
std::string_view cudaPrelude();

}  // namespace svod
