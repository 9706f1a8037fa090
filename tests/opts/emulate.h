// Kernels with opts, run as threads of workgroups.
#pragma once
#include <catch2/catch.hpp>

#include "common/gpu_lowering.h"
#include "ir/verify.h"
#include "opts/kernels.h"
#include "opts/opt.h"

namespace svod {

/// A GPU with a grid, workgroups and these tensor cores.
inline Caps gpuCaps(std::vector<const TensorCore*> cores = tensorCoresOf(GpuFamily::Metal, 7)) {
  Caps caps = capsOf(testGpu(), Numerics::Contract);
  caps.cores = std::move(cores);
  return caps;
}

inline LinearKernel threadsOf(Graph& g, UOp sink) {
  Result<LinearKernel> kernel = loweredForGpu(g, sink);
  if (!kernel) FAIL(toText(kernel.error()));
  return std::move(*kernel);
}

/// The buffers after running a kernel with a grid and workgroups: `threads` made of `sink`.
inline Buffers emulated(const LinearKernel& threads, UOp sink) {
  Buffers buffers = makeBuffers(sink);
  Status status = interpretLinear(threads, buffers, valuesOf(sink));
  if (!status) FAIL(toText(status.error()));
  return buffers;
}

/// "" or what is wrong with a kernel.
inline std::string verifyText(UOp sink) {
  Status status = verify(sink, Stage::Kernel);
  return status ? "" : toText(status.error());
}

}  // namespace svod
