// Target emulated: what one thread of a workgroup does, as text. It shows kernels with a grid without a GPU.
#pragma once
#include "target/grid_target.h"

namespace svod::emulated {

inline constexpr const char* kDeviceKind = "emulated";

/// There is one, with workgroups of at most 64 threads. Errors: Usage for the name of another.
Result<Machine> machine(std::string_view triple, std::string_view processor);
Caps caps(const Machine& machine, Numerics numerics);
LegalizeOptions legal(const Machine& machine, Numerics numerics);
Result<std::string> emit(const GridKernel& kernel);
Result<ImageFile> image(const std::string& kernel, std::string code, const Machine& machine);

}  // namespace svod::emulated
