// The first few elements of a sorted axis.
#pragma once
#include "frontend/tensor.h"

namespace svod {

/// Whether k of them are found by passes over the axis, as many as k may be: that is few, and a value and its position
/// fit 64 bits.
bool isSelected(const Tensor& x, int axis, Dim k);
/// The i64 positions of the first k elements of the axis in the order of sort(). Where the axis has fewer, what stands
/// behind them is a position of none.
Tensor selectedPositions(Tensor x, int axis, int64_t k, bool isLargest);

/// One element of x for each of `positions`, which count along the axis.
Tensor elementsAt(const Tensor& x, int axis, const Tensor& positions);

}  // namespace svod
