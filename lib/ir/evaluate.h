// Values of integer expressions at given points: dims under variable values, indices under loop counters.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Gives leaves (Var, Range, Special, Load, ..) their values; nullopt leaves the expression without one.
using LeafValue = std::function<std::optional<Scalar>(UOp leaf)>;

/// The value of a scalar expression of elementwise ops over constants and leaves, or nullopt when a leaf has none.
/// Computed with evalScalar, so integers wrap as everywhere.
std::optional<Scalar> evaluate(UOp value, const LeafValue& leaf);

/// Whether two dims are equal: the same node, equal constants, or equal at every sampled value of their variables
/// (both ends of the bounds and points between).
bool sameDim(UOp a, UOp b);
/// Whether two shapes are equal dim by dim.
bool sameShape(std::span<const UOp> a, std::span<const UOp> b);
/// Whether two shapes hold the same number of elements, decided as in sameDim.
bool sameNumel(std::span<const UOp> a, std::span<const UOp> b);

}  // namespace svod
