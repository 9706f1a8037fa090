// The first few elements of a sorted axis.
#pragma once
#include "frontend/tensor.h"

namespace svod {

/// Whether k of them are found by as many passes over the axis: k is small, and a value and its position fit 64 bits.
bool isSelected(const Tensor& x, int axis, Dim k);
/// The i64 positions of the first k elements of the axis in the order of sort(). The axis has as many.
Tensor selectedPositions(Tensor x, int axis, int64_t k, bool isLargest);

/// One element of x for each of `positions`, which count along the axis.
Tensor elementsAt(const Tensor& x, int axis, const Tensor& positions);

}  // namespace svod
