// A kernel with opts, compiled for this machine and loaded into the test process.
#pragma once
#include <memory>
#include <vector>

#include "optimize/opt.h"
#include "target_llvm/native_kernel.h"

namespace svod {

struct NativeKernel {
  std::unique_ptr<SharedLibrary> library;
  KernelFunction* function = nullptr;
  int64_t tiles = 1;
  std::vector<std::byte> scratch;  // aligned by run()

  /// Runs all tiles in one call.
  void run(std::vector<void*> buffers);
};

/// Lowers `sink` with the opts applied and compiles it; a failure ends the test case.
NativeKernel compileNative(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps);

}  // namespace svod
