// Target webgpu: kernels as WGSL, which an implementation of WebGPU compiles when a plan is loaded. Nothing is asked of
// an adapter beyond workgroups, barriers, the memory that a workgroup shares and 32-bit words.
#pragma once
#include "target/target.h"

namespace svod::webgpu {

inline constexpr const char* kDeviceKind = "webgpu";

extern const Target kTarget;

/// Limits that code is chosen for, by name, "" for default. Errors: Usage, with the names there are.
Result<Machine> machine(std::string_view triple, std::string_view name);

}  // namespace svod::webgpu
