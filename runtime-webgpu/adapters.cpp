#include "runtime-webgpu/adapters.h"

#include <utility>

#include "support/says.h"

namespace svod::webgpu {

namespace {

constexpr const char* kNoneHelp =
    "vulkaninfo lists what drivers offer; mesa-vulkan-drivers brings one that runs on processors";

AdapterInfo infoOf(const Library& wgpu, AdapterHandle adapter) {
  AdapterInfo info;
  AdapterDescription description;
  if (wgpu.wgpuAdapterGetInfo(adapter, &description) == kSuccess) {
    info.name = textOf(description.device), info.driver = textOf(description.description);
    info.backend = description.backend, info.type = description.type;
    wgpu.wgpuAdapterInfoFreeMembers(description);
  }
  (void)wgpu.wgpuAdapterGetLimits(adapter, &info.limits);
  info.limits.next = nullptr;
  return info;
}

}  // namespace

Result<Adapters> Adapters::find(const Library& wgpu) {
  Adapters all(wgpu);
  InstanceExtras extras;
  InstanceDescriptor descriptor;
  descriptor.next = &extras.chain;
  all.instance_ = wgpu.wgpuCreateInstance(&descriptor);
  if (all.instance_ != nullptr) {
    const AdapterOptions options;
    all.handles_.resize(wgpu.wgpuInstanceEnumerateAdapters(all.instance_, &options, nullptr));
    all.handles_.resize(wgpu.wgpuInstanceEnumerateAdapters(all.instance_, &options, all.handles_.data()));
  }
  if (all.handles_.empty()) return fail(Diag::NoDevice, "WebGPU has no adapter on this machine", kNoneHelp);
  for (AdapterHandle adapter : all.handles_) {
    all.infos_.push_back(infoOf(wgpu, adapter));
    all.infos_.back().ordinal = static_cast<int>(all.infos_.size()) - 1;
  }
  return all;
}

Adapters::Adapters(Adapters&& other) noexcept
    : wgpu_(other.wgpu_), instance_(std::exchange(other.instance_, nullptr)), handles_(std::move(other.handles_)),
      infos_(std::move(other.infos_)) {
  other.handles_.clear();
}

Adapters::~Adapters() {
  for (AdapterHandle adapter : handles_) wgpu_.wgpuAdapterRelease(adapter);
  if (instance_ != nullptr) wgpu_.wgpuInstanceRelease(instance_);
}

std::string nameText(const AdapterInfo& info) { return says({"webgpu:", info.ordinal, ", ", info.name}); }

std::string longText(const AdapterInfo& info) {
  const char* const type = info.type == kDiscrete     ? "GPU"
                           : info.type == kIntegrated ? "integrated GPU"
                           : info.type == kProcessor  ? "processor"
                                                      : "device";
  const char* const backend = info.backend == kVulkan       ? "Vulkan"
                              : info.backend == kMetal      ? "Metal"
                              : info.backend == kDirect3D12 ? "Direct3D 12"
                                                            : "another backend";
  return says({nameText(info), ", ", type, " by ", backend, ", driver ", info.driver, ", workgroups of ",
               info.limits.threads, " threads and ", info.limits.sharedBytes >> 10, " KiB, buffers of ",
               info.limits.bufferBytes >> 20, " MiB, bindings of ", info.limits.storageBytes >> 20, " MiB"});
}

}  // namespace svod::webgpu
