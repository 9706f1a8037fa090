// Values that DequantizeLinear made, moved before they are used: the integers are moved as well, so that products
// behind the movement stay sums of integers.
#pragma once
#include <functional>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// Marks the results of a node that only moves dequantized operands, or chooses among them by size. `lower` lowers a
/// node.
void carryDequantized(OnnxNode& n, const std::vector<Tensor>& results,
                      const std::function<std::vector<Tensor>(OnnxNode&)>& lower);
/// Whether all scales are known, positive, and neither overflow nor vanish when they are multiplied or divided by.
bool areUsualScales(const OnnxNode& n, const Tensor& scale);
bool hasUsualScales(const OnnxNode& n, const Dequantized& x);

}  // namespace svod
