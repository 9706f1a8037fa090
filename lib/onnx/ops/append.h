// A past with what is new behind it.
#pragma once
#include "onnx/node.h"

namespace svod {

/// `fresh` stored behind `past` along an axis, where past is the beginning of a state that has room for both at all
/// sizes: the beginning that holds both, without a copy of the past. Null for all other values, and after a first
/// append.
Tensor appendedToState(GraphBuilder& b, const Tensor& past, const Tensor& fresh, int axis);

/// The same where past is the beginning of a state; a Concat otherwise.
Tensor appended(const OnnxNode& n, const Tensor& past, const Tensor& fresh, int axis);

}  // namespace svod
