// Kernels with a grid and workgroups, ready for the interpreter.
#pragma once
#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/gpu_dims.h"
#include "lower/legalize.h"

namespace svod {

/// A kernel with its opts applied as threads with hardware indices, local memory and barriers.
inline Result<LinearKernel> loweredForGpu(Graph& g, UOp sink, const GpuLimits& limits = {}) {
  SVOD_TRY(UOp lowered, expand(g, shareGroupReduces(g, sink)));
  SVOD_TRY(lowered, lowerGpuDims(g, lowered, limits));  // first: grid and workgroup ranges are no loops to merge
  LegalizeOptions legal;
  legal.narrowIndex = true;
  return linearize(g, legalize(g, mergeLoops(g, lowered), legal), "kernel", Numerics::Contract);
}

}  // namespace svod
