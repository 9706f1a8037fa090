// What the runtime finds of this component.
#include <charconv>
#include <climits>

#include "runtime-cuda/cuda_device.h"
#include "runtime-min/drivers.h"
#include "support/says.h"

namespace svod::cuda {

namespace {

Status readSwitch(const DeviceOption& option, bool& to) {
  if (option.value != "on" && option.value != "off")
    return fail(Diag::Usage, says({"the device option '", option.name, "' is '", option.value, "'"}),
                "it is on or off");
  to = option.value == "on";
  return {};
}

Status readNumber(const DeviceOption& option, int& to) {
  const char* const end = option.value.data() + option.value.size();
  const auto [stop, error] = std::from_chars(option.value.data(), end, to);
  if (error == std::errc() && stop == end && to >= 0) return {};
  return fail(Diag::Usage, says({"the device option 'number' is '", option.value, "'"}),
              "it is the number of a CUDA device, from 0 on: svod-run --list-devices shows them");
}

Result<DeviceChoice> choiceOf(int position, std::span<const DeviceOption> options) {
  DeviceChoice choice;
  choice.ordinal = position;
  for (const DeviceOption& option : options) {
    if (option.name == "driver")
      choice.driver = option.value;
    else if (option.name == "number")
      SVOD_CHECK(readNumber(option, choice.ordinal));
    else if (option.name == "jit")
      SVOD_CHECK(readSwitch(option, choice.mayJit));
    else if (option.name == "graphs")
      SVOD_CHECK(readSwitch(option, choice.usesGraphs));
    else if (option.name == "wait")
      SVOD_CHECK(readSwitch(option, choice.waitsForEach));
    else if (option.name == "loader" || option.name == "library")  // of devices of other kinds
      continue;
    else
      return fail(Diag::Usage, says({"devices of kind cuda have no option '", option.name, "'"}),
                  "they know number, driver, jit, graphs and wait");
  }
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
