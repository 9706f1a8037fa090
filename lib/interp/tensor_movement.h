// Movement ops on views (an internal header of the room).
#pragma once
#include "interp/view.h"
#include "ir/uop.h"
#include "support/result.h"

namespace svod {

/// Applies the movement op of `node` to `x`. `numbers` are the values of its dim sources in order (without x and the
/// fill of Pad), `fill` the value Pad uses. Errors name the node when the numbers do not fit x.
Result<View> moveView(UOp node, const View& x, std::span<const int64_t> numbers, const Scalar& fill);

/// `x`, a scalar or already of shape `dims`, as a view of shape `dims`.
View broadcastTo(const View& x, std::span<const int64_t> dims);

/// Same elements under other dims; copies only when the strides do not allow a view.
View reshapeView(const View& x, std::span<const int64_t> dims);

}  // namespace svod
