// What the lowerings of several families share.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// Any list of numbers as the value of a graph op's attribute.
template <class List>
AttributeValue listAttribute(const List& list) {
  return AttributeValue::List(list.begin(), list.end());
}

/// The axes begin, begin + 1, .. end - 1.
std::vector<int> axesFrom(int begin, int end);
/// [n] as [n, 1, 1, ..], so that it lies along `axis` of a tensor of that rank; everything else as it is.
Tensor along(Tensor vector, int rank, int axis);
/// An i64 scalar.
inline Tensor number(const OnnxNode& n, int64_t value) { return n.b.constant(Scalar::ofInt(DType::I64, value)); }
/// Integers, or floats, as a constant tensor.
Tensor constantOf(const OnnxNode& n, DType dtype, std::vector<int64_t> dims, const std::vector<double>& values);

// --- Windows

/// The windows of a convolution or a pooling: one entry per axis, `pads` all befores and then all afters.
struct OnnxWindow {
  std::vector<int64_t> kernel, strides, dilations, pads;
  /// Of SAME_UPPER and SAME_LOWER over symbolic axes, where pads depend on their sizes: these, and how many windows
  /// there are. Otherwise empty.
  Dims symbolicPads, counts;
  /// stride, padding and dilation of the graph ops.
  Attributes attributes() const;
  /// A result of such an op, with the sizes in their simple form.
  Tensor sized(const OnnxNode& n, Tensor y) const;
  /// What a window takes of an axis, and what there is with its pads.
  std::pair<Dim, Dim> takenOf(const OnnxNode& n, const Tensor& x, size_t axis) const;
  /// Sizes that nobody bounded leave room for a window, where none must be more than `farthest` for it. Whether those
  /// of x all do.
  bool fits(const OnnxNode& n, const Tensor& x, int64_t farthest = INT64_MAX, bool mayHang = false) const;
};

/// From strides, dilations, pads and auto_pad, for the axes of x behind the first two. Nothing after an
/// error.
std::optional<OnnxWindow> windowOf(const OnnxNode& n, const Tensor& x, const std::vector<int64_t>& kernel);

// --- Quantization

/// Operand i, a scale or a zero point: one number, or a vector along `axis` of a tensor of that rank. Null
/// when it is omitted. One number that is known becomes part of the code.
Tensor quantParameter(const OnnxNode& n, int i, int rank, int axis);
/// Operands 0 and 1 as integers, with their scales: each one number, or a vector for an axis of the result.
struct IntegerFactors {
  Quantized a, b;
  Tensor scaleA, scaleB;
};
/// Nothing unless DequantizeLinear made both operands, of integers whose sums of `terms` products fit i32, with
/// one scale, or one per element of `axisA` and `axisB`; -1 where there is no such axis.
std::optional<IntegerFactors> integerFactors(const OnnxNode& n, int axisA, int axisB, Dim terms);
/// An i32 sum of products as f32; its axes that the scales belong to. `bias` may be null.
Tensor scaled(const OnnxNode& n, const IntegerFactors& factors, Tensor sum, int axisA, int axisB, Tensor bias);
/// x - operand i in i32, where the zero point is as above.
Tensor withoutZero(const OnnxNode& n, Tensor x, int i, int axis);
/// round(x) + zero, saturated; zero may be null.
Tensor roundedTo(DType dtype, Tensor x, Tensor zero);
/// x as a float of 8 or 4 bits, not f8e8m0. What is too large, also infinity, becomes the largest number; 8
/// bits without `saturates`: infinity, or NaN in a type without one.
Tensor castToMinifloat(const OnnxNode& n, Tensor x, DType to, bool saturates);

// --- Samples between elements

/// Where an index that may lie outside an axis is read instead.
using IndexMap = std::function<Tensor(Tensor index, int axis)>;
/// One term of an interpolation.
struct Tap {
  Tensor weight, value;
};
/// x at fractional positions: `lead` are indices of the first axes, `at` the positions along the others; all
/// broadcast. The 2^k elements around a position with their weights, the first axis slowest. What lies
/// outside x is 0.
std::vector<Tap> linearTaps(Tensor x, const std::vector<Tensor>& lead, const std::vector<Tensor>& at,
                            const IndexMap& map = {});
/// The weighted sum of taps.
Tensor sumOf(const std::vector<Tap>& taps);

}  // namespace svod
