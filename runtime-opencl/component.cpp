// What the runtime finds of this component.
#include "runtime-min/device_options.h"
#include "runtime-opencl/opencl_device.h"

namespace svod::opencl {

namespace {

Result<OpenClChoice> choiceOf(int position, std::span<const DeviceOption> options) {
  OpenClChoice choice;
  choice.ordinal = position;
  SVOD_CHECK(readOptions(OpenClDevice::kKind, options,
                         {{"number", &choice.ordinal}, {"loader", &choice.loader}, {"wait", &choice.waitsForEach}}));
  return choice;
}

class OpenClDriver final : public DeviceDriver {
 public:
  Result<std::unique_ptr<Device>> open(uint32_t position, std::span<const DeviceOption> options) override {
    SVOD_TRY(const OpenClChoice choice, choiceOf(static_cast<int>(position), options));
    SVOD_TRY(const Loader cl, Loader::open(choice.loader));
    SVOD_TRY(std::unique_ptr<Device> device, OpenClDevice::open(cl, choice));
    return device;
  }

  Result<std::vector<std::string>> list(std::span<const DeviceOption> options) override {
    SVOD_TRY(const OpenClChoice choice, choiceOf(0, options));
    SVOD_TRY(const Loader cl, Loader::open(choice.loader));
    SVOD_TRY(const std::vector<OpenClInfo> all, allDevices(cl));
    std::vector<std::string> lines;
    for (const OpenClInfo& info : all) lines.push_back(longText(info));
    return lines;
  }
};

}  // namespace

}  // namespace svod::opencl

extern "C" __attribute__((visibility("default"))) svod::DeviceDriver* svod_device_driver_opencl(const char* version) {
  return version == svod::driverVersion() ? new svod::opencl::OpenClDriver : nullptr;
}
