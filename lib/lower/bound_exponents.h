// Exponents that are differences from a maximum: what is known of their sign.
#pragma once
#include "ir/graph.h"
#include "ir/numerics.h"

namespace svod {

/// e^(x - m), where m is the greatest of all x, as in a softmax, becomes e^t with t = 0 < x - m ? 0 : x - m. That is
/// the same number, a NaN included, and says that the exponent is not above 0, of which the polynomial makes use.
/// Unless numerics are strict, exponents of f32 and f64 whose power is subnormal become kNoPower. Kernel stage in and
/// out, for a CPU.
UOp boundExponents(Graph& graph, UOp sink, Numerics numerics);

/// An exponent so far below 0 that its power is 0 without a subnormal number on the way.
inline constexpr double kNoPower = -5000;

/// t as above of `difference`, or kNoPower in its place. The dtype is that of `difference`, a float.
UOp boundedExponent(Graph& graph, UOp difference, Numerics numerics);

/// Whether `x` is t as above or -|y|.
bool isNotAboveZero(UOp x);

/// t of an exponent as boundedExponent writes it with kNoPower; null for any other.
UOp exponentAbove(UOp exponent);

}  // namespace svod
