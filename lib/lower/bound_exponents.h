// Exponents that are differences from a maximum: what is known of their sign.
#pragma once
#include "ir/graph.h"
#include "ir/numerics.h"

namespace svod {

/// e^(x - m), where m is the greatest of all x, as in a softmax, becomes e^-|x - m|. That is the same number, a NaN
/// included, and says that the exponent is not above 0, of which the polynomial makes use. Unless numerics are strict,
/// exponents of f32 and f64 whose power is subnormal become kNoPower. Kernel stage in and out, for a CPU.
UOp boundExponents(Graph& graph, UOp sink, Numerics numerics);

/// An exponent so far below 0 that its power is 0 without a subnormal number on the way.
inline constexpr double kNoPower = -5000;

/// -|d| where the exponent is that or, where its power is subnormal, kNoPower, as boundExponents writes it; null for
/// any other.
UOp exponentAbove(UOp exponent);

}  // namespace svod
