// Ops that compute tensors from tensors (an internal header of the room). Results are new tensors; operands are only
// read.
#pragma once
#include <span>
#include <vector>

#include "interp/view.h"
#include "ir/uop.h"
#include "support/result.h"

namespace svod {

/// The error of dims that the graph calls equal and the values of the variables do not.
tl::unexpected<Error> dimsMismatch(UOp node, const View& a, const View& b);

/// The one element of a view of shape ().
Scalar scalarOf(const View& view);
View scalarView(const Scalar& value);

/// 0, 1, .. count - 1; nothing where count is negative.
View iotaView(DType dtype, int64_t count);
View stackView(DType dtype, std::span<const View> scalars);

/// Operands have equal dims, or shape (), which broadcasts.
Result<View> elementwiseView(UOp n, std::vector<View> src);

/// Every output element starts at the identity and takes its inputs in row-major order, rounding each time, or at the
/// end alone: of f64 each time.
View reduceView(UOp n, const View& x, bool roundsOnce = false);

/// `indices` has a tensor for each axis of x; what they name outside of x reads as zero and stores nothing.
Result<View> gatherView(UOp n, const View& x, std::span<const View> indices);
/// InputMismatch where updates that the graph calls distinct go to one element, unless they `mayMeet`.
Result<View> scatterView(UOp n, const View& x, std::span<const View> indices, const View& update, bool mayMeet);

}  // namespace svod
