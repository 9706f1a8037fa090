// Does a graph compute what another one does?
#pragma once
#include <random>
#include <string>
#include <vector>

#include "interp/tensor.h"
#include "ir/graph.h"
#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// Both kernels in the interpreter, on the same random data, with all variables at their least values, at their
/// greatest and between. Floats may differ by what a few roundings make. Errors: Mismatch, with the argument and the
/// element, and what the interpreter says of an illegal access.
Status checkSameValues(UOp before, UOp after);
/// The same with threads, where `after` has some: they meet at barriers.
Status checkSameValues(UOp before, const LinearKernel& after);

/// The elements of `before` against as many of `after`, in memory order; floats as above. Errors: Mismatch, in which
/// `name` says what they belong to.
Status checkClose(const std::string& name, const HostTensor& before, const HostTensor& after);

/// Whether they are equal, both NaN, or floats that differ by `allowed` at most.
bool agree(const Scalar& a, const Scalar& b, double allowed);

/// Floats in [-1, 1] in steps of 1/64, integers from 0 to 7: every sum of some is exact in most dtypes.
HostTensor plainValues(DType dtype, std::vector<int64_t> dims, std::mt19937& random);

}  // namespace svod
