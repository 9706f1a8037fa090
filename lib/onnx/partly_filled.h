// Values that a run fills in part: which ops may work on them, and how much of their results is filled then. The
// others refuse them, so what stands in the rest of such a value never reaches a result.
#pragma once
#include <functional>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// Lowers a node with an operand that is filled in part by `lower`, and marks its results. Records an error for ops
/// that need all of their operands.
std::vector<Tensor> lowerPartlyFilled(OnnxNode& n, const std::function<std::vector<Tensor>()>& lower);

}  // namespace svod
