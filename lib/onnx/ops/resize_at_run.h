// Resizing by scales, sizes or a region that only a run knows, to sizes that the plan is for, and resizing of symbolic
// axes.
#pragma once
#include "onnx/node.h"
#include "onnx/ops/resize_taps.h"

namespace svod {

struct ResizeAtRun {
  std::vector<int> axes;
  Dims sizes;  // of the result, along these axes
  ResizeRule rule;
  double extrapolation = 0;
  bool isKnown = false;             // what is asked for is here, and no operand is read
  std::vector<double> scales = {};  // empty: as the sizes say
  std::vector<double> region = {};  // starts of the axes, then ends
  Dims asked = {};  // sizes from which keep_aspect_ratio_policy made `sizes`; empty: they are taken as they are
};

/// The operands are those of Resize from opset 11 on. Every run checks that they ask for these sizes.
Tensor resizedAtRun(OnnxNode& n, const ResizeAtRun& r);

/// Whether sizes are taken as they are, not cut to the aspect of the image; before opset 18 nothing else is there.
bool stretches(OnnxNode& n);

}  // namespace svod
