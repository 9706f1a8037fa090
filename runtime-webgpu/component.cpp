// What the runtime finds of this component.
#include "runtime-min/device_options.h"
#include "runtime-webgpu/webgpu_device.h"

namespace svod::webgpu {

namespace {

Result<WebGpuChoice> choiceOf(int position, std::span<const DeviceOption> options) {
  WebGpuChoice choice;
  choice.ordinal = position;
  SVOD_CHECK(readOptions(WebGpuDevice::kKind, options,
                         {{"number", &choice.ordinal}, {"library", &choice.library}, {"wait", &choice.waitsForEach}}));
  return choice;
}

class WebGpuDriver final : public DeviceDriver {
 public:
  Result<std::unique_ptr<Device>> open(uint32_t position, std::span<const DeviceOption> options) override {
    SVOD_TRY(const WebGpuChoice choice, choiceOf(static_cast<int>(position), options));
    SVOD_TRY(const Library wgpu, Library::open(choice.library));
    SVOD_TRY(std::unique_ptr<Device> device, WebGpuDevice::open(wgpu, choice));
    return device;
  }

  Result<std::vector<std::string>> list(std::span<const DeviceOption> options) override {
    SVOD_TRY(const WebGpuChoice choice, choiceOf(0, options));
    SVOD_TRY(const Library wgpu, Library::open(choice.library));
    SVOD_TRY(const Adapters all, Adapters::find(wgpu));
    std::vector<std::string> lines;
    for (size_t i = 0; i < all.count(); i++) lines.push_back(longText(all.info(i)));
    return lines;
  }
};

}  // namespace

}  // namespace svod::webgpu

extern "C" __attribute__((visibility("default"))) svod::DeviceDriver* svod_device_driver_webgpu(const char* version) {
  return version == svod::driverVersion() ? new svod::webgpu::WebGpuDriver : nullptr;
}
