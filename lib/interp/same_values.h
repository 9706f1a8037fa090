// Does a graph compute what another one does?
#pragma once
#include "ir/graph.h"
#include "support/result.h"

namespace svod {

/// Both kernels in the interpreter, on the same random data, with all variables at their least values, at their
/// greatest and between. Floats may differ by what a few roundings make. Errors: Mismatch, with the argument and the
/// element, and what the interpreter says of an illegal access.
Status checkSameValues(UOp before, UOp after);

}  // namespace svod
