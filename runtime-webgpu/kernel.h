// A kernel of a plan on an adapter of WebGPU: what launches of it have to know.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/wgsl_arguments.h"
#include "runtime-min/device.h"
#include "runtime-webgpu/adapters.h"

namespace svod::webgpu {

/// A kernel whose arguments lie in some memories: binding 0 is the words of the launch, the others are memories.
struct Pipeline {
  PipelineHandle pipeline = nullptr;
  GroupLayoutHandle layout = nullptr;
};

struct WebGpuKernel {
  std::string name, path;
  std::string text;  // behind what reaches the arguments
  std::vector<WordUse> uses;
  std::vector<uint64_t> bytes, alignment;  // of each argument: the most it touches, and what it starts at a multiple of
  size_t values = 0;
  bool isFolded = false;
  mutable std::map<std::vector<uint32_t>, Pipeline> pipelines;  // by the memory of each argument

  std::string textFor(std::span<const uint32_t> memories) const { return wgslArguments(uses, values, memories) + text; }
};

/// Whether the adapter can do what the plan says of a kernel. Errors: CpuFeatures; Unsupported for an attribute that is
/// not known.
Status checkFits(const AdapterInfo& info, const KernelDesc& desc);
/// Errors: BadPlan where the text is not for the kernel.
Result<WebGpuKernel> readKernel(const KernelDesc& desc, const std::string& path, std::string_view text);

}  // namespace svod::webgpu
