// Target cuda: kernels as CUDA C, and machine code of it for each architecture that was asked for.
#pragma once
#include <optional>

#include "target/target.h"

namespace svod::cuda {

inline constexpr const char* kDeviceKind = "cuda";
/// How ImageTarget::arch begins in a plan without machine code: "source:sm_80".
inline constexpr const char* kSource = "source:";

extern const Target kTarget;

/// The architectures of a list such as "sm_80,sm_90a", "" for sm_80, in the order of the machines of a plan: those
/// whose code fewer devices run first, exact before family, plain and PTX, and the newest of each. Errors: Usage, with
/// the architectures there are.
Result<std::vector<std::string>> archsOf(std::string_view list);
/// The GPU of one architecture, "" for sm_80. Errors: as for archsOf.
Result<Machine> machine(std::string_view triple, std::string_view arch);
/// The GPU that code for `arch` is chosen for: of an architecture between two rows of gpus.def that of the lower one.
/// Nothing where `arch` is none.
std::optional<GpuTarget> gpuFor(std::string_view arch);

/// NVRTC, from where --nvrtc says; none with `none`.
Result<std::shared_ptr<const TargetTools>> open(const ToolRequest& request);
Result<KernelCode> emit(const EmitJob& job);
Result<std::vector<JoinedFile>> join(const JoinJob& job);
/// Kinds of --emit.
extern const TargetFiles kFiles[4];

}  // namespace svod::cuda
