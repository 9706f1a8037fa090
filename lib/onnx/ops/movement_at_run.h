// Slice and Pad with amounts that only a run knows, for results whose dims the model states.
#pragma once
#include "onnx/node.h"

namespace svod {

/// The operands are those of Slice from opset 10 on.
Tensor sliceAtRun(OnnxNode& n, const Dims& dims);
/// The operands are those of Pad from opset 11 on.
Tensor padAtRun(OnnxNode& n, const Dims& dims);

}  // namespace svod
