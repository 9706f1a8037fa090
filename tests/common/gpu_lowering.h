// Kernels with a grid and workgroups, ready for the interpreter.
#pragma once
#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/gpu_dims.h"
#include "lower/join_barriers.h"
#include "lower/legalize.h"
#include "lower/matrix_loads.h"
#include "lower/neighbours.h"
#include "lower/rings.h"
#include "lower/swizzle.h"
#include "symbolic/symbolic.h"

namespace svod {

/// One with all instructions of gpu_ops.def, and less shared memory than its like.
inline GpuTarget testGpu() {
  GpuTarget gpu = *findGpu("sm_80");
  gpu.sharedBytes = 48 << 10;
  return gpu;
}

/// A kernel with its opts applied as threads with hardware indices, local memory and barriers.
inline Result<LinearKernel> loweredForGpu(Graph& g, UOp sink, const GpuTarget& gpu = testGpu()) {
  SVOD_TRY(UOp lowered, expand(g, shareGroupReduces(g, sink, gpu), &gpu));
  SVOD_TRY(lowered, lowerGpuDims(g, lowered, gpu.limits));  // first: grid and workgroup ranges are no loops to merge
  lowered = joinBarriers(g, turnRings(g, mergeLoops(g, lowered), gpu));
  LegalizeOptions legal;
  legal.narrowIndex = true;
  return linearize(g,
                   legalize(g, swizzleBuffers(g, joinNeighbours(g, pairMatrixLoads(g, simplify(g, lowered)))), legal),
                   "kernel", Numerics::Contract);
}

}  // namespace svod
