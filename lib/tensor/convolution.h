// Convolutions in the graph of tensors, found by what is read at which index: frontends, models and rewrites write
// windows in many ways, but all of them become the same index functions.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "ir/model.h"

namespace svod {

/// One axis of the data under windows of stride 1: result element `out` and tap `tap` meet at out + tap - before, where
/// what lies outside of the data is 0.
struct ConvWindow {
  size_t dim;        // of the data
  int32_t out, tap;  // axes of the product
  int64_t before;
};

/// sum(data * weights) over channels and taps, of f32. Axes are those of the product, by number; those of one element
/// belong to no list. Each other axis of the result is in `groups` (read by both operands), `batch` (by the data),
/// `filters` (by the weights) or a window's. Those of the batch and of windows may have any size, others have a number.
struct Convolution {
  UOp data;
  std::vector<int32_t> axisOfDim;  // of the data: the axis that reads it, -1 for a dim of one element or under a window
  std::array<ConvWindow, 2> windows;
  std::vector<int32_t> groups, batch, filters, channels;
  uint32_t weights;              // port
  std::vector<int64_t> strides;  // by axis: elements of the weights
  int64_t first;                 // element of the weights where all counters are 0
};

/// `reduce` as a convolution with two windows of three taps, stride and dilation 1, over weights of the model; nothing
/// for anything else.
std::optional<Convolution> convolutionOf(Model& model, UOp reduce);

}  // namespace svod
