// Whether lent devices are those of the plan, and the code that they load.
#pragma once
#include <span>
#include <vector>

#include "runtime-min/device.h"
#include "runtime-min/loaded_plan.h"

namespace svod {

/// `devices` by DeviceId, null or missing for the host. Errors: NoDevice when the host cannot stand in for one, or one
/// is of another kind; Unsupported for memory that a device would share with the host.
Status checkDevices(const Plan& plan, std::span<Device* const> devices);

/// What devices loaded of kernels with a grid, and null for others; both are empty where the plan has none.
struct LoadedKernels {
  std::vector<const void*> own;    // by StepId
  std::vector<const void*> cases;  // by Program::cases
};
/// After checkDevices.
Result<LoadedKernels> loadKernels(const LoadedPlan& loaded, std::span<Device* const> devices);

}  // namespace svod
