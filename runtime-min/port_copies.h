// Buffers of devices that are only what the plan copies an input to, or an output from: where the caller's memory is on
// that device, kernels use it itself.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace svod {

struct PortCopy {
  BufferId port = {}, buffer = {};  // of an input or output; in an arena of a device
  void* own = nullptr;              // where the buffer is in the arena
};

/// Those of a plan: of an input that nothing else writes, of an output that nothing writes after the copy.
std::vector<PortCopy> findPortCopies(const Plan& plan);

}  // namespace svod
