// What the OpenCL devices of this machine are, as their drivers say it.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "runtime-opencl/loader.h"

namespace svod::opencl {

struct OpenClInfo {
  int ordinal = 0;  // among those of all platforms
  DeviceId device = nullptr;
  std::string name, platform, driver, version, language;  // "OpenCL 3.0 ..", "OpenCL C 1.2 .."
  Bits type = 0;
  Number units = 0;
  uint64_t bytes = 0, mostAtOnce = 0, localBytes = 0, parameterBytes = 0;
  uint64_t threads = 0;
  std::array<size_t, 3> threadsAlong = {};
  Bits singles = 0, doubles = 0;  // what floats of 32 and 64 bits can; none of the latter: 0
  bool isFull = false;            // of the full profile, with a compiler
  bool hasDoubles() const { return doubles != 0; }
  bool dividesRounded() const { return (singles & kRoundedDivision) != 0; }
  bool hasSubnormals() const { return (singles & kSubnormals) != 0; }
};

/// Those of all platforms, in the order in which the loader names them. Errors: NoDevice where there is none.
Result<std::vector<OpenClInfo>> allDevices(const Loader& cl);

/// "opencl:0, pthread-skylake"
std::string nameText(const OpenClInfo& info);
std::string longText(const OpenClInfo& info);

}  // namespace svod::opencl
