// Which images an adapter of WebGPU takes, and what it says of them.
#include <algorithm>

#include "runtime-webgpu/webgpu_device.h"
#include "support/says.h"

namespace svod::webgpu {

namespace {

struct ImageLimits {
  std::string_view name;
  uint64_t threads, sharedBytes;
};
constexpr ImageLimits kLimits[] = {
#define LIMITS(name, threads, sharedBytes) {name, threads, sharedBytes},
#include "runtime-webgpu/limits.def"
#undef LIMITS
};

bool fits(const ImageLimits& limits, const AdapterInfo& info) {
  return limits.threads <= info.limits.threads && limits.sharedBytes <= info.limits.sharedBytes;
}

}  // namespace

/// The images for the largest limits that it has; where it has none, those for the smallest, as their kernels may need
/// less.
Result<std::string_view> WebGpuDevice::choose(std::span<const FileDesc> files) {
  const ImageLimits* best = nullptr;
  for (const ImageLimits& limits : kLimits) {
    const bool isThere = std::ranges::any_of(files, [&](const FileDesc& file) {
      return file.kind == FileKind::Image && file.image.device == kKind && file.image.arch == limits.name;
    });
    if (isThere && (best == nullptr || !fits(*best, info()))) best = &limits;
  }
  if (best == nullptr)
    return fail(Diag::CpuFeatures, says({"no image of the plan is for limits that ", nameText(info()), " knows"}),
                "compile the graph with --target webgpu");
  limits_ = best->name;
  return best->name;
}

/// A text that the implementation does not take is an error here, though launches say which memories there are.
Result<const void*> WebGpuDevice::load(const KernelDesc& kernel, const DeviceImage& image) {
  constexpr uint32_t kVersion = 1;  // of how texts are called
  if (image.file.image.driver > kVersion)
    return fail(Diag::Unsupported, says({"'", image.file.path, "' is called in a way that this runtime does not know"}),
                "install the runtime of the svodc that made the plan");
  const std::lock_guard lock(mutex_);
  SVOD_CHECK(checkFits(info(), kernel));
  const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  SVOD_TRY(WebGpuKernel read, readKernel(kernel, image.file.path, text));
  const std::string together = read.textFor(std::vector<uint32_t>(read.uses.size(), 0));
  WgslSource source;
  source.code = {together.data(), together.size()};
  ModuleDescriptor descriptor;
  descriptor.next = &source.chain;
  const ModuleHandle module = wgpu_.wgpuDeviceCreateShaderModule(device_, &descriptor);
  if (module != nullptr) wgpu_.wgpuShaderModuleRelease(module);
  constexpr size_t kMost = 1500;  // of what a message shows
  if (const std::string trouble = takeTrouble(); !trouble.empty())
    return fail(Diag::BadPlan,
                says({"cannot compile '", image.file.path, "' for ", nameText(info()), ": ", trouble.substr(0, kMost)}),
                "the text is in the plan: report it with the message, or compile the graph again");
  return kernels_.emplace_back(std::make_unique<WebGpuKernel>(std::move(read))).get();
}

std::vector<std::string> WebGpuDevice::describe() const {
  std::vector<std::string> lines = {longText(info())};
  const std::lock_guard lock(mutex_);
  if (!kernels_.empty())
    lines.push_back(says({"runs ", kernels_.size(), kernels_.size() == 1 ? " kernel for " : " kernels for ", limits_}));
  return lines;
}

}  // namespace svod::webgpu
