// What the runtime finds of this component.
#include <charconv>

#include "runtime-min/drivers.h"
#include "runtime-opencl/opencl_device.h"
#include "support/says.h"

namespace svod::opencl {

namespace {

Status readSwitch(const DeviceOption& option, bool& to) {
  if (option.value != "on" && option.value != "off")
    return svod::fail(Diag::Usage, says({"the device option '", option.name, "' is '", option.value, "'"}),
                      "it is on or off");
  to = option.value == "on";
  return {};
}

Status readNumber(const DeviceOption& option, int& to) {
  const char* const end = option.value.data() + option.value.size();
  const auto [stop, error] = std::from_chars(option.value.data(), end, to);
  if (error == std::errc() && stop == end && to >= 0) return {};
  return svod::fail(Diag::Usage, says({"the device option 'number' is '", option.value, "'"}),
                    "it is the number of an OpenCL device, from 0 on: svod-run --list-devices shows them");
}

/// Of devices of other kinds.
bool isOfOthers(std::string_view option) {
  return option == "driver" || option == "jit" || option == "graphs" || option == "library";
}

Result<OpenClChoice> choiceOf(int position, std::span<const DeviceOption> options) {
  OpenClChoice choice;
  choice.ordinal = position;
  for (const DeviceOption& option : options) {
    if (option.name == "loader")
      choice.loader = option.value;
    else if (option.name == "number")
      SVOD_CHECK(readNumber(option, choice.ordinal));
    else if (option.name == "wait")
      SVOD_CHECK(readSwitch(option, choice.waitsForEach));
    else if (isOfOthers(option.name))
      continue;
    else
      return svod::fail(Diag::Usage, says({"devices of kind opencl have no option '", option.name, "'"}),
                        "they know number, loader and wait");
  }
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
