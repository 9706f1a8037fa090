// Target emulated: what one thread of a workgroup does, as text. It shows kernels with a grid without a GPU.
#pragma once
#include "target/target.h"

namespace svod::emulated {

extern const Target kTarget;

}  // namespace svod::emulated
