// From ranges to values: upcast and unrolled ranges become separate values, the vector range becomes lanes, reductions
// become accumulators, fills become local buffers. Kernel stage in, Lowered stage out.
#pragma once
#include "ir/graph.h"
#include "machine/gpu.h"
#include "support/result.h"

namespace svod {

/// An accumulator starts at the identity and takes its operands in order, so a reduction without a Vector range gives
/// exactly the sequential result. A Vector range of a reduction keeps one partial result per lane and folds the lanes
/// at the end. A value may depend on one Vector range at a time; anything else is an error that names the opt. On a GPU
/// fragments of tensor cores that lie in local memory are loaded as matrices, where it can.
Result<UOp> expand(Graph& graph, UOp sink, const GpuTarget* gpu = nullptr);

/// Merges loops: Ends that close the same ranges, or reductions over equal extents in the same outer loops, become one
/// End when none needs the result of another. Afterwards every Range is closed by exactly one End.
UOp mergeLoops(Graph& graph, UOp sink);

}  // namespace svod
