// Which device each value of a plan is on: kernels run where their operands are, and what is elsewhere is copied there.
#pragma once
#include <map>
#include <optional>
#include <span>

#include "plan/plan.h"

namespace svod {

/// Copies of weights, which are no steps: weights are on every device.
struct WeightCopies {
  std::map<BufferId, BufferId> weightOf;   // what a copy holds
  std::map<BufferId, BufferId> standsFor;  // constants that launches are given in the place of a copy
};

/// Gives every arena buffer of `plan` its device and adds the copies between devices as steps. `asked[step]` is where
/// the graph wants the result of a launch or copy, or nothing. A launch runs on the first device that is not the host
/// among those of its buffers, else on `usual`; kernels from `functions` on are functions of C, which run on the host.
/// A state that kernels of one device besides the host use is there, unless functions or conditions read it. Other
/// states, inputs, outputs, what functions are given, conditions of loops and expectations are on the host. Call once,
/// before the memory is planned; with one device and no copy of a weight it changes nothing.
void placeOnDevices(Plan& plan, std::span<const std::optional<DeviceId>> asked, DeviceId usual, KernelId functions,
                    const WeightCopies& weights);

}  // namespace svod
