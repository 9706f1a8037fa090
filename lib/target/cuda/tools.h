// NVRTC, as --nvrtc names it.
#pragma once
#include "target/cuda/nvrtc.h"
#include "target/cuda/target.h"

namespace svod::cuda {

inline constexpr std::string_view kNvrtcFlag = "nvrtc";

/// Null without tools.
const Nvrtc* nvrtcOf(const TargetTools* tools);

/// Folders that may hold NVRTC: of the toolkit, of Python environments with pip's package, of the user.
/// `environment` is a list of NAME=value.
std::vector<std::string> nvrtcFolders(const std::vector<std::string>& environment);

}  // namespace svod::cuda
