// Strided transposed convolutions as plain ones: a convolution for each phase of the result.
#pragma once
#include "frontend/lower/common.h"

namespace svod {

struct ConvShape {
  int spatial = 0;  // number of spatial axes
  int64_t groups = 1;
  Dim perGroup;     // input channels of a group
  Dim outPerGroup;  // output channels of a group
};

/// Whether a transposed convolution with these windows is one for each phase of its result.
bool haveOwnPhases(const std::vector<WindowAxis>& axes);
/// Its sums over x [n, g, c/g, sizes..] and the weights [c, m/g, taps..] of the call: [n, g, m/g, results..]. What the
/// phases compute is kept, and interleaved where it is used.
Tensor phaseSums(OpCall& call, Tensor x, const ConvShape& shape, const std::vector<WindowAxis>& axes);

}  // namespace svod
