// LinearKernel to OpenCL C 1.2.
#pragma once
#include <string>
#include <string_view>

#include "target/grid/print_grid.h"

namespace svod::opencl {

/// What one work-item does, as printGrid says it. An argument is a buffer and the bytes in front of its elements there,
/// as OpenCL 1.2 has no addresses that a program can count with.
Result<GridText> printOpenCl(const LinearKernel& kernel, size_t arguments, int64_t threads);

/// What stands in front of such a text: settings, and what of the functions that the text calls OpenCL C lacks.
std::string openClPrelude(std::string_view text);

}  // namespace svod::opencl
