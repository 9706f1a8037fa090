// One element of a value that a run computes, as a scalar: what moves elements about is left out, so that sizes in a
// vector have bounds of their own, and the same size is the same scalar wherever it is read.
#pragma once
#include <vector>

#include "frontend/builder.h"

namespace svod {

/// The element at a position, one number per axis inside of its dims; null after an error.
UOp runElement(GraphBuilder& b, UOp node, const std::vector<int64_t>& at);

}  // namespace svod
