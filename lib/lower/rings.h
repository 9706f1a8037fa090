// Software pipelining: multi-stage (cp.async, TMA) copies to shared memory, ahead of the loop that reads them.
#pragma once
#include "ir/graph.h"
#include "machine/gpu.h"

namespace svod {

/// Lowered stage in and out, before hardware indices: rings that are not filled in one loop of a
/// reduce become plain buffers.
UOp keepRings(Graph& graph, UOp sink);

/// Lowered stage in and out, behind grid-indices and merge-loops. A Local buffer with a ring of d stages is filled d -
/// 1 iterations ahead of the loop in which it is read, by copies under way where the GPU has them, in bulk where one
/// thread would copy what is the box of a tensor (ir/tensor_box.h): the threads wait for what they copied themselves,
/// meet, start the copies of a later iteration into the stage that all of them have left, wait for bulk copies, and
/// read. Stores of what a thread has loaded may come last. Products of warpgroups that read nothing else run on into
/// the next iteration, and copies start one iteration later, where there are three stages or more.
UOp turnRings(Graph& graph, UOp sink, const GpuTarget& gpu);

}  // namespace svod
