// Flags of target cuda: --cuda-arch, --nvrtc.
#pragma once
#include "command.h"
#include "driver/compile.h"

namespace svod {

/// The machine of a target that `processor` names; for target cuda those of a list of architectures, of --cuda-arch
/// where `processor` is empty. Errors: Usage for a flag that belongs to another target.
Result<std::vector<Machine>> machinesFor(const Target& target, const Flags& flags, const std::string& processor);

/// Opens NVRTC where a target of the plan needs it. Errors: CompileFailed when there is none; Usage.
Status addNvrtc(const Request& request, CompileOptions& options);

/// Folders that may hold NVRTC: of the toolkit, of Python environments with pip's package, of the user.
/// `environment` is a list of NAME=value.
std::vector<std::string> nvrtcFolders(const std::vector<std::string>& environment);

}  // namespace svod
