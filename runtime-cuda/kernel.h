// A kernel of an image on a device, and what it is launched with.
#pragma once
#include <string>
#include <vector>

#include "runtime-cuda/device_info.h"
#include "runtime-min/device.h"

namespace svod::cuda {

struct DeviceKernel {
  std::string name;  // for people
  Function function = nullptr;
  unsigned threads[3] = {1, 1, 1};
  unsigned sharedBytes = 0;         // given with the launch
  unsigned cluster[3] = {1, 1, 1};  // workgroups
  struct Argument {
    uint64_t bytes;  // the most it touches
    bool isWritten;
  };
  std::vector<Argument> arguments;
  std::vector<std::pair<uint32_t, uint64_t>> alignments;  // of arguments that need more than their dtype
  bool hasCluster() const { return cluster[0] * cluster[1] * cluster[2] > 1; }
};

/// Looks the function up, so that nothing is loaded later, and checks that a workgroup of it fits on the device. The
/// context of `module` is current. Errors: CpuFeatures, BadPlan, Unsupported.
Result<DeviceKernel> findKernel(const Driver& driver, const DeviceInfo& info, Module module, const KernelDesc& desc);

/// What the driver is given of one launch: the addresses of its parameters. Buffers first, or the maps in their place,
/// then values. Borrows what the launch points to.
class Parameters {
 public:
  /// Errors: the driver refuses a tensor map.
  Code fill(const Driver& driver, const DeviceLaunch& launch);
  void** addresses() { return addresses_.data(); }

 private:
  std::vector<void*> addresses_;
  std::vector<TensorMapObject> maps_;
};

/// Whether the driver takes so many workgroups, and the arguments are aligned as the kernel needs it: else
/// kTooManyGroups or kNotAligned.
Code checkLaunch(const DeviceKernel& kernel, const DeviceLaunch& launch);

}  // namespace svod::cuda
