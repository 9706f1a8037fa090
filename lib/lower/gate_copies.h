// Threads behind the end of an axis whose size only a run knows read nothing of what the others have filled.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Where a tile does not divide such an axis, some threads run behind its end, and all that they store is gated off.
/// Memory that a workgroup shares is filled as far as the axis goes: here their loads of it are gated off as well,
/// where it is not certain that they lie inside. Loads of the lanes of a tensor core stay as they are. Kernel stage in
/// and out, for kernels with workgroups.
UOp gateCopies(Graph& graph, UOp sink);

}  // namespace svod
