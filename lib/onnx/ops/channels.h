// The two places of the channels of an image.
#pragma once
#include "frontend/tensor.h"

namespace svod {

/// [n, sizes.., channels] as [n, channels, sizes..], and back.
Tensor channelsSecond(Tensor x);
Tensor channelsLast(Tensor x);

}  // namespace svod
