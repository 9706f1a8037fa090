#include "runtime-webgpu/kernel.h"

#include <algorithm>

#include "support/says.h"

namespace svod::webgpu {

namespace {

constexpr const char* kSmaller = "compile the graph for the limits that every adapter has: svodc compile --cpu default";

tl::unexpected<Error> lacks(const AdapterInfo& info, const KernelDesc& desc, std::string_view what, const char* help) {
  return fail(Diag::CpuFeatures, says({"kernel '", desc.name, "' ", what, " (", nameText(info), ")"}), help);
}

}  // namespace

Status checkFits(const AdapterInfo& info, const KernelDesc& desc) {
  const Grid& grid = *desc.grid;
  for (const LaunchAttribute& attribute : grid.attributes)
    if (attribute.name != kFolded)
      return fail(Diag::Unsupported,
                  says({"kernel '", desc.name, "' has the attribute '", attribute.name,
                        "', which this driver of WebGPU devices does not know"}),
                  "install the runtime of the svodc that made the plan");
  if (!grid.tensorMaps.empty())
    return fail(Diag::Unsupported, says({"kernel '", desc.name, "' has a tensor map"}), "compile the graph again");
  const uint64_t threads = grid.threads[0] * grid.threads[1] * grid.threads[2];
  const bool fits = threads <= info.limits.threads && grid.threads[0] <= info.limits.threadsX &&
                    grid.threads[1] <= info.limits.threadsY && grid.threads[2] <= info.limits.threadsZ;
  if (!fits)
    return lacks(
        info, desc,
        says({"has workgroups of ", threads, " threads, more than the ", info.limits.threads, " of the adapter"}),
        kSmaller);
  if (grid.sharedBytes > info.limits.sharedBytes)
    return lacks(info, desc,
                 says({"needs ", grid.sharedBytes, " bytes that a workgroup shares, of ", info.limits.sharedBytes}),
                 kSmaller);
  const uint64_t words = 4 * uint64_t{launchWords(desc.args.size(), desc.values.size())};
  if (words > info.limits.uniformBytes)
    return lacks(info, desc, says({"has ", words, " bytes of sizes, of ", info.limits.uniformBytes}),
                 "compile the graph with -O0, whose kernels have fewer arguments");
  return {};
}

Result<WebGpuKernel> readKernel(const KernelDesc& desc, const std::string& path, std::string_view text) {
  const size_t at = text.find(kWgslKernel);
  if (at == text.npos)
    return fail(Diag::BadPlan, says({"'", path, "' is no kernel in WGSL that svodc wrote"}), "compile the graph again");
  WebGpuKernel kernel;
  kernel.name = desc.name, kernel.path = path;
  kernel.text = text.substr(at + kWgslKernel.size());
  kernel.values = desc.values.size();
  for (const KernelArg& arg : desc.args) {
    kernel.uses.push_back(wordUse(arg.mode, byteSize(arg.dtype)));
    kernel.bytes.push_back(arg.bytes);
    kernel.alignment.push_back(std::min<uint64_t>(byteSize(arg.dtype), 4));
  }
  kernel.isFolded = !desc.grid->attributes.empty();
  return kernel;
}

}  // namespace svod::webgpu
