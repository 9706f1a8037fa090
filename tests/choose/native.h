// A kernel with opts, compiled for this machine and loaded into the test process.
#pragma once
#include <memory>
#include <vector>

#include "opts/opt.h"
#include "target_llvm/native_kernel.h"

namespace svod {

struct NativeKernel {
  NativeKernel(std::unique_ptr<SharedLibrary> library, const LinearKernel& linear);

  std::unique_ptr<SharedLibrary> library;
  KernelFunction* function = nullptr;
  int64_t tiles = 1;
  std::vector<std::byte> scratch;  // aligned by run()

  /// Runs all tiles in one call.
  void run(std::vector<void*> buffers);
};

/// Lowers `sink` with the opts applied, to be called "kernel"; a failure ends the test case. Caps::bf16Dots keeps dot
/// products of bf16 down to the code, whether or not this CPU has an instruction for them.
LinearKernel linearOf(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps);

/// Compiles that for this CPU.
NativeKernel compileNative(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps);

}  // namespace svod
