// Elements of fewer than 8 bits in memory. In the memory of inputs, outputs and weights several share a byte; in the
// temporaries and states of a schedule each has a byte of its own, a u8 whose low bits are those of the element.
#pragma once
#include "ir/graph.h"

namespace svod {

/// What a Param or a temporary holds for elements of `dtype`.
inline DType storedDType(DType dtype) { return isPacked(dtype) ? DType::U8 : dtype; }

/// A u8 with the bits of an element of a packed dtype, and the element of a u8 whose high bits may be anything.
UOp codeOf(Graph& graph, UOp element);
UOp elementOf(Graph& graph, UOp code, DType dtype);

/// Tensor stage: the bytes in which the elements of `value` are packed, along the last axis if it fills whole bytes,
/// else as a vector.
UOp packedBytes(Graph& graph, UOp value);

}  // namespace svod
