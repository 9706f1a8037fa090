// Components that drive devices of other kinds than the host: a library for each kind, which is loaded when a plan has
// such a device.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime-min/device.h"
#include "support/version.h"
#include "svod/runtime.h"

namespace svod {

/// As svod_device_option.
struct DeviceOption {
  std::string_view name, value;
};

class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;
  /// A device for one instance. `position`: among those of this kind in the plan. Errors: NoDevice, DeviceBusy, Usage
  /// for an option or a value that it does not know.
  virtual Result<std::unique_ptr<Device>> open(uint32_t position, std::span<const DeviceOption> options) = 0;
  /// What is there, a line for each device.
  virtual Result<std::vector<std::string>> list(std::span<const DeviceOption> options) = 0;
};

/// What a component exports for kind K, as svod_device_driver_K: null when `version` is not driverVersion(), as the two
/// share types.
using DriverEntry = DeviceDriver* (*)(const char* version);
/// Of this release; the number counts changes of Device, DeviceDriver and what they are given.
inline std::string driverVersion() { return std::string(kVersion) + " drivers 3"; }

/// Those for the device of a plan, or all where `device` is null.
std::vector<DeviceOption> optionsFor(const char* device, std::span<const svod_device_option> options);

/// Null when no component for this kind is there. Errors: NoDevice when it is of another release.
Result<std::unique_ptr<DeviceDriver>> findDriver(std::string_view kind);
/// "libsvod-cuda.so.0"
std::string driverLibrary(std::string_view kind);

/// Those of the plan that are of other kinds than the host, by DeviceId; null for the host and where no component is.
Result<std::vector<std::unique_ptr<Device>>> openDevices(const Plan& plan, std::span<const svod_device_option> options);

}  // namespace svod
