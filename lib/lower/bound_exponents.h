// Exponents that are differences from a maximum: what is known of their sign.
#pragma once
#include "ir/graph.h"

namespace svod {

/// e^(x - m), where m is the greatest of all x, as in a softmax, becomes e^-|x - m|. That is the same number, a NaN
/// included, and says that the exponent is not above 0, of which the polynomial makes use. Kernel stage in and out, for
/// a CPU.
UOp boundExponents(Graph& graph, UOp sink);

}  // namespace svod
