// LinearKernel to CUDA C that calls a prelude for everything that CUDA does.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// What one thread of a workgroup does, as a function with the name of the kernel. The text needs a prelude in front of
/// it: that of cudaPrelude(), or another one with the same functions, in C or C++.
struct CudaText {
  std::string text;
  std::vector<int64_t> alignment;  // bytes that each argument has to start at a multiple of, by slot
  std::vector<UOp> maps;           // nodes tensor_map, each of which stands in place of the address it is made of
};

/// The parameters are `arguments` addresses, by slot, or maps in their place, and the values as i64. `threads` are
/// those of a workgroup. Vectors are written lane by lane, and moved as one where they are aligned. Thread-safe,
/// deterministic. Fails with Verify if a kernel was not legalized.
Result<CudaText> printCuda(const LinearKernel& kernel, size_t arguments, int64_t threads);

/// The prelude for NVRTC, which needs no header.
std::string_view cudaPrelude();

}  // namespace svod
