// Products that a tensor core sums up, masked where there are fewer terms than one instruction takes.
#pragma once
#include "ir/graph.h"

namespace svod {

/// where(valid, x * y, 0) as (x or 0) * (y or 0): it stays a product, and what lies beyond the terms, which may be an
/// infinity or NaN, is in neither factor. `product` may be cast, and so may its factors; any other value becomes zero
/// itself.
UOp maskedProduct(Graph& graph, UOp product, UOp valid);

}  // namespace svod
