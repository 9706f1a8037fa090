// Target opencl: kernels as OpenCL C 1.2, which the device's own compiler builds when a plan is loaded. Nothing is
// asked of a device beyond workgroups, barriers and the memory that a workgroup shares.
#pragma once
#include "target/target.h"

namespace svod::opencl {

inline constexpr const char* kDeviceKind = "opencl";

extern const Target kTarget;

/// Limits that code is chosen for, by name, "" for portable. Errors: Usage, with the names there are.
Result<Machine> machine(std::string_view triple, std::string_view name);

}  // namespace svod::opencl
