// Products whose factors are masked: where there are fewer terms than a tensor core takes, or than are copied.
#pragma once
#include <span>

#include "ir/graph.h"

namespace svod {

/// where(valid, x * y, 0) as (x or 0) * (y or 0): it stays a product, and what lies beyond the terms, which may be an
/// infinity or NaN, is in neither factor. `product` may be cast, and so may its factors; any other value becomes zero
/// itself.
UOp maskedProduct(Graph& graph, UOp product, UOp valid);

/// The masks of sums along one of `terms`, which a tile of it or the kernel itself made, in the factors.
UOp withMasksInside(Graph& graph, UOp sink, std::span<const UOp> terms);

}  // namespace svod
