// Kernels with a grid and workgroups, ready for the interpreter.
#pragma once
#include <algorithm>

#include "driver/kernel_passes.h"
#include "linearize/linearize.h"

namespace svod {

/// One with all instructions of gpu_ops.def, and less shared memory than its like.
inline GpuTarget testGpu() {
  GpuTarget gpu = *findGpu("sm_80");
  gpu.sharedBytes = 48 << 10;
  return gpu;
}

/// A kernel with its opts applied as threads with hardware indices, local memory and barriers: by the passes of targets
/// with a grid from the one on that carries out opts, each verified.
inline Result<LinearKernel> loweredForGpu(Graph& g, UOp sink, const GpuTarget& gpu = testGpu()) {
  KernelJob job;
  job.caps.workgroups = true, job.caps.gpu = gpu;
  job.legalize.narrowIndex = true;
  PassLog log;
  PassOptions options;
  options.verifyEach = true;
  PassContext cx{g, log, options, "kernel", Numerics::Contract, {}};
  cx.data.put(job);
  const std::span<const Pass> all = gridKernelPasses();
  const auto first = std::ranges::find(all, "share-group-reduces", &Pass::name);
  SVOD_TRY(UOp lowered, runPipeline({first, all.end()}, sink, cx));
  return linearize(g, lowered, "kernel", Numerics::Contract);
}

}  // namespace svod
