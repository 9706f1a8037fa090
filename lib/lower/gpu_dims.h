// GPU axes: reductions shared by a workgroup, and grid and workgroup ranges as hardware indices.
#pragma once
#include "ir/graph.h"
#include "machine/gpu.h"
#include "support/result.h"

namespace svod {

/// Kernel stage in and out: a Reduce over Group ranges becomes partial results in a Local buffer that every thread of
/// the group then reduces, unless shuffles do it (isShuffled, ir/workgroup.h), where the GPU has them; buffers that a
/// thread fills for itself become registers. Without Group and Local ranges the graph is returned as it is.
UOp shareGroupReduces(Graph& graph, UOp sink, const GpuTarget& gpu);

/// Lowered stage in and out: Global ranges become Special gidx0..2, Local, Group and Warp ranges lidx0..2, the last
/// axis x. Warp ranges come last, as one axis: in the order lidx0 + size0 * (lidx1 + size1 * lidx2), each warp is a run
/// of threads. Axes beyond three are joined. Stores to memory that do not depend on some thread index are done by its
/// thread 0; a Local buffer is read behind a Barrier after it was written. Errors: Unsupported when the axes do not fit
/// the limits.
Result<UOp> lowerGpuDims(Graph& graph, UOp sink, const GpuLimits& limits);

}  // namespace svod
