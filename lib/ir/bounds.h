// Interval analysis over integers and bools, computed once when a node is made.
#pragma once
#include "ir/uop.h"

namespace svod {

/// Bounds that hold for every value the node can take. Arithmetic that may wrap gives the dtype's whole range.
Interval computeBounds(Op op, DType dtype, std::span<const UOp> src, const Arg& arg);
/// The same with `in[i]` known about source i instead of its own bounds.
Interval computeBounds(Op op, DType dtype, std::span<const UOp> src, std::span<const Interval> in, const Arg& arg);

}  // namespace svod
