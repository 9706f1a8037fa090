// Formulas that several lowerings share.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/graph_op.h"

namespace svod {

/// Dtype a composite computes in: at least f32 for floats, f32 for everything else.
inline DType computeDType(const Tensor& x) { return isFloat(x.dtype()) ? sumDType(x.dtype()) : DType::F32; }
/// Dtype it gives back: that of a float operand, else f32.
inline DType resultDType(const Tensor& x) { return isFloat(x.dtype()) ? x.dtype() : DType::F32; }

/// Operand 0 of a function of one operand in the dtype it computes in, and a result of it in the dtype it gives back.
inline Tensor wideArg(OpCall& call) { return cast(call.arg(0), computeDType(call.arg(0))); }
inline Tensor narrowed(OpCall& call, Tensor y) { return cast(y, resultDType(call.arg(0))); }

/// Functions of f32 and f64 within a few units of the last place, with the limits and the signs of zero they have in C.
Tensor expm1Of(Tensor x);
Tensor log1pOf(Tensor x);
Tensor log1pOfUnit(Tensor x);  // for 0 <= x <= 1
Tensor sinhOf(Tensor x);
/// y where x is positive, -y where it is negative, and x where it is a zero.
Tensor oddFunction(Tensor x, Tensor y);

/// Axes of an attribute, all different, in the order given; nothing after an error.
std::optional<std::vector<int>> distinctAxes(OpCall& call, std::string_view name, int rank);
/// Whether attribute `name` has as many entries as it wants; an error if not.
bool sameCount(OpCall& call, size_t have, size_t want, std::string_view name);

/// a [.., m, k] times b [.., k, n], multiplied and summed in `wide`.
Tensor matrixProduct(Tensor a, Tensor b, DType wide);
/// exp(x - max) / sum along an axis; x is of a compute dtype.
Tensor softmaxOf(Tensor x, int axis);
/// The sum of x over axes, divided by the number of elements folded; keeps the dims.
Tensor meanOf(Tensor x, const std::vector<int>& axes);
/// The positions 0, 1, .. along `axis` of a shape, as an Index tensor that broadcasts against it.
Tensor positionsAlong(GraphBuilder& b, const Dims& dims, int axis);
/// x with `axis` last; the order that undoes it is the same call with the result.
std::vector<int> orderWithLast(int rank, int axis);
std::vector<int> inverseOrder(const std::vector<int>& order);
/// Folds of all prefixes of an axis with Add, Mul, Max or Min, with the element that a prefix ends at or without it, in
/// blocks, so that long axes cost less than their square.
enum class Prefix : uint8_t { Inclusive, Exclusive };
Tensor scan(Op op, Tensor x, int axis, Prefix prefix = Prefix::Inclusive);

/// The values side by side along an axis; all other dims are equal.
Tensor joined(const std::vector<Tensor>& parts, int axis);

/// One spatial axis of a window op: `kernel` taps `dilation` apart, moved by `stride` over `size` elements
/// with `before` and `after` imaginary ones around them.
struct WindowAxis {
  Dim size, kernel, before, after, count;  // count: number of windows
  int64_t stride = 1, dilation = 1;
  bool mayHang = false;  // over the end of the axis and what follows it
};

/// Which windows there are besides those that fit.
struct HangingWindows {
  bool last = false;     // one more that hangs over the end but begins inside
  bool inShort = false;  // the only one of an axis that is shorter than it by less than a stride
};

/// Whether an axis has at most so many elements for all values of the variables; else an error, with bounds of these
/// that keep it so. `forWhat` follows "is too long".
bool expectAtMost(OpCall& call, const Tensor& x, int axis, int64_t most, const std::string& forWhat);

/// The attributes stride, padding and dilation of a call for the spatial axes of x, which start at
/// `firstAxis`; counts are left open. Nothing after an error. padding has one entry, one per axis, or all
/// befores and then all afters.
std::vector<WindowAxis> windowAttributes(OpCall& call, const Tensor& x, int firstAxis, const Dims& kernel);
/// The same with the number of windows.
std::vector<WindowAxis> windowAxes(OpCall& call, const Tensor& x, int firstAxis, const Dims& kernel,
                                   HangingWindows hanging = {});
/// x [lead.., spatial..] as [lead.., counts.., kernels..]. Taps outside x give 0.
Tensor unfold(Tensor x, int firstAxis, const std::vector<WindowAxis>& axes);

/// Zeros before and after x along one axis; x itself, also where that is an error, without any.
Tensor padAlong(Tensor x, int axis, int64_t before, int64_t after);

/// The element of the axis that window o reads with tap t, turned around: which window element o of a result is
/// reached from with tap t. -1 where it lies between windows.
Tensor meetingPositions(Tensor o, Tensor t, const WindowAxis& a);

}  // namespace svod
