// What the runtime finds of this component.
#include "runtime-cuda/cuda_device.h"
#include "runtime-min/device_options.h"

namespace svod::cuda {

namespace {

Result<DeviceChoice> choiceOf(int position, std::span<const DeviceOption> options) {
  DeviceChoice choice;
  choice.ordinal = position;
  SVOD_CHECK(readOptions(CudaDevice::kKind, options,
                         {{"number", &choice.ordinal},
                          {"driver", &choice.driver},
                          {"jit", &choice.mayJit},
                          {"graphs", &choice.usesGraphs},
                          {"wait", &choice.waitsForEach}}));
  return choice;
}

class CudaDriver final : public DeviceDriver {
 public:
  Result<std::unique_ptr<Device>> open(uint32_t position, std::span<const DeviceOption> options) override {
    SVOD_TRY(const DeviceChoice choice, choiceOf(static_cast<int>(position), options));
    SVOD_TRY(const Driver driver, Driver::open(choice.driver));
    SVOD_TRY(std::unique_ptr<Device> device, CudaDevice::open(driver, choice));
    return device;
  }

  Result<std::vector<std::string>> list(std::span<const DeviceOption> options) override {
    SVOD_TRY(const DeviceChoice choice, choiceOf(0, options));
    SVOD_TRY(const Driver driver, Driver::open(choice.driver));
    SVOD_TRY(const int count, deviceCount(driver));
    std::vector<std::string> lines;
    for (int i = 0; i < count; i++) {
      SVOD_TRY(const DeviceInfo info, deviceInfo(driver, i));
      lines.push_back(longText(info, driver));
    }
    return lines;
  }
};

}  // namespace

}  // namespace svod::cuda

extern "C" __attribute__((visibility("default"))) svod::DeviceDriver* svod_device_driver_cuda(const char* version) {
  return version == svod::driverVersion() ? new svod::cuda::CudaDriver : nullptr;
}
