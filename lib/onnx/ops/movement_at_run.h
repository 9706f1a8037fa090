// Slice and Pad with amounts that only a run knows.
#pragma once
#include "onnx/node.h"

namespace svod {

/// The operands are those of Slice from opset 10 on. Without stated dims the sizes are lengths.
Tensor sliceAtRun(OnnxNode& n, const std::optional<Dims>& stated);
/// The operands are those of Pad from opset 11 on, for a result whose dims the model states.
Tensor padAtRun(OnnxNode& n, const Dims& dims);

}  // namespace svod
