// What the CUDA devices of this machine are.
#pragma once
#include <string>
#include <vector>

#include "plan/image_rule.h"
#include "runtime-cuda/driver.h"

namespace svod::cuda {

struct DeviceInfo {
  DeviceNumber device = 0;
  int ordinal = 0;  // cuda:0 is 0
  std::string name;
  std::string uuid;  // "GPU-...", "" where the driver is too old to say it
  CudaCapability capability;
  uint32_t multiprocessors = 0;
  uint64_t bytes = 0;
  uint64_t sharedBytes = 0;         // that a workgroup may have when it asks for it
  uint64_t sharedBytesUnasked = 0;  // and without asking
};

Result<int> deviceCount(const Driver& driver);
Result<DeviceInfo> deviceInfo(const Driver& driver, int ordinal);

/// "cuda:0, NVIDIA H200, compute capability 9.0"
std::string nameText(const DeviceInfo& info);
/// The same with its size and the driver.
std::string longText(const DeviceInfo& info, const Driver& driver);

}  // namespace svod::cuda
