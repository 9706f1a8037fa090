// Elements of a few bits in bytes.
#pragma once
#include "onnx/node.h"

namespace svod {

/// Bytes as elements of 2 to 8 bits, the lowest bits first; those of 3, 5, 6 and 7 run over the ends of bytes. The last
/// dim, which must be a number unless the elements are bytes, becomes what whole elements fit. Null after an error.
Tensor unpackedBits(const OnnxNode& n, Tensor bytes, int64_t bits);

}  // namespace svod
