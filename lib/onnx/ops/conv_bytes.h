// Convolutions of bytes less their zero points, as sums of products of the bytes themselves.
#pragma once
#include <optional>

#include "onnx/node.h"

namespace svod {

/// x as u8 and w as i8, the pair that dot product instructions multiply: a product less the zero points is
/// (x - zero) * w.
struct ShiftedBytes {
  Tensor x, w;
  int64_t zero = 0;
};
/// Nothing where a zero point is unknown, that of w differs between filters, or w less it is no i8.
std::optional<ShiftedBytes> shiftedBytes(const Bytes& x, const Bytes& w);
/// What a convolution over x in place of x - zero adds to the sums of each filter, with the sign turned: [filters] of
/// i32, known when the plan is built if w is.
Tensor correctionOf(const ShiftedBytes& bytes);

/// Operand i, whose zero point is operand `zero`, as bytes; null elements where it is of another type.
Bytes bytesOf(const OnnxNode& n, int i, int zero);
/// The same less that zero point: one number, or a vector along `axis`.
Quantized quantizedArg(const OnnxNode& n, int i, int zero, int axis);
/// The one number that operand i is at all of its elements; 0 where it is left out. Nothing where it is not known, or
/// has several values.
std::optional<int64_t> oneNumber(const OnnxNode& n, int i);

}  // namespace svod
