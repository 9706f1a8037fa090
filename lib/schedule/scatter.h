// The kernel of a scatter: updates are combined with what stands at their positions. Those that
// may go to one place do so one after the other.
#pragma once
#include "tensor/kernel_builder.h"

namespace svod {

/// What a scatter puts at the positions that its operands in between give.
inline UOp updatesOf(UOp scatter) { return scatter.src(scatter.srcCount() - 1); }

/// The axes of a scatter's argument are those of all updates where no two of these go to one place, and none elsewhere.
/// The sink of a kernel that `builder` makes in `graph`: all updates of `scatter` to `storage`, which holds its
/// operand.
UOp scatterUpdates(Graph& graph, KernelBuilder& builder, UOp scatter, const Storage& storage);

}  // namespace svod
