// Transcendental functions with one result on every machine. Those of a C library depend on its version, and on the
// processor it finds itself on, in their last bits, while what is computed when a plan is built must not.
#pragma once
#include "ir/dtype.h"
#include "ir/op.h"

namespace svod {

/// Of `op` on x, and y where it takes two: a double that rounds to the right result in `dtype`. `near` is what the C
/// library of this machine has, within eight units of its last place.
double steadyValue(Op op, double x, double y, double near, DType dtype);

}  // namespace svod
