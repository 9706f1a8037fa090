// Target cuda: kernels as CUDA C, and machine code of it for each architecture that was asked for.
#pragma once
#include "driver/targets.h"

namespace svod::cuda {

inline constexpr const char* kDeviceKind = "cuda";
inline constexpr const char* kSource = "source";  // ImageTarget::arch of a plan without machine code

/// `archs` is a list such as "sm_80,sm_90a", "" for sm_80. The limits are the least of all, and what an architecture
/// alone has is used where it is the only one. Errors: Usage, with the architectures there are.
Result<Machine> machine(std::string_view triple, std::string_view archs);
/// The GPU that code for `arch` is chosen for: of an architecture between two rows of gpus.def that of the lower one.
/// Nothing where `arch` is none.
std::optional<GpuTarget> gpuFor(std::string_view arch);
Caps caps(const Machine& machine, Numerics numerics);
LegalizeOptions legal(const Machine& machine, Numerics numerics);
Status emitKernel(CompiledKernel& kernel, const CompileOptions& options);
Status finish(Compilation& compilation, const CodeParts& code, const CompileOptions& options);

}  // namespace svod::cuda
