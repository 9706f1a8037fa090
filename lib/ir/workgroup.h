// Which loops of a kernel share the threads of a workgroup, as opts and lowering see them.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Of kernel-stage graphs: whether threads of a workgroup share this Range; lanes of tensor cores (Warp) are others.
bool isThread(UOp range);
/// Of lowered graphs: whether `node` is the Special that counts threads of a workgroup along one axis.
bool isThreadIndex(UOp node);

/// Loops that the same threads run, one after the other: of equal extent, and no value depends on two of them.
struct ThreadDim {
  std::vector<UOp> ranges;  // Local and Group ranges, by rising id; the last stands for all

  UOp range() const { return ranges.back(); }
};

/// Of a kernel-stage graph. The last one counts fastest; lanes of tensor cores (Warp ranges) count faster still.
std::vector<ThreadDim> threadDimsOf(UOp sink);

/// Threads of a workgroup, lanes included.
int64_t workgroupThreads(UOp sink);

/// Whether a reduction over `range` is done by shuffles: neighbours of a warp hold its terms, or whole warps do.
bool isShuffled(UOp sink, UOp range);

}  // namespace svod
