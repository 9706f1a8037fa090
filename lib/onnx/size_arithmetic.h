// Scalar ops on numbers that depend on sizes: integers and bools as expressions over variables, floats as fractions of
// them.
#pragma once
#include <span>

#include "ir/graph.h"

namespace svod {

/// The value of `op` with a result of `dtype`, or null when it cannot be said without the variables' values. Operands
/// and result are constants of their dtypes, Index expressions (integers of any dtype), Bool expressions that compare
/// such, or floats that are a / b of Index expressions: only where the floats of a run hold a and b exactly, and where
/// rounding a / b to an integer gives what rounding the float gives.
UOp sizeArithmetic(Graph& graph, Op op, DType dtype, std::span<const UOp> operands);

}  // namespace svod
