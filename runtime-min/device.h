// A device with memory that the host cannot touch. Its work is given to a queue and done later, in the order in which
// it was given. Whoever makes an instance lends it devices (Instance::create), each to one instance at a time: several
// instances on one piece of hardware have a queue of it each, as Devices of their own. A device of the plan that is not
// lent is the host, whose memory its arena then is.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime-min/program.h"
#include "support/result.h"

namespace svod {

/// A kernel on all its tiles, or, where it has a grid, on all its workgroups. What is pointed to stays as it is until
/// the work is done; the buffers are addresses of the device.
struct DeviceLaunch {
  KernelFunction function = nullptr;
  void* const* buffers = nullptr;
  uint32_t bufferCount = 0;
  const int64_t* values = nullptr;
  int64_t tiles = 0;
  uint64_t scratchBytes = 0;
  const void* loaded = nullptr;               // with a grid: what Device::load gave, in place of the function
  std::array<int64_t, 3> groups = {1, 1, 1};  // with a grid
};

/// An image that holds a kernel, and what the plan says of it.
struct DeviceImage {
  const FileDesc& file;
  const KernelImage& needs;
  std::span<const std::byte> bytes;
};

/// Any thread may give work and wait. `tag` is what a failure of the work is known by.
class Device {
 public:
  /// Counts what was given, from 1 on: a ticket is done when everything up to it is.
  using Ticket = uint64_t;
  struct Failure {
    uint32_t tag = 0;  // of the first work that failed
    std::string what;
  };

  virtual ~Device() = default;
  /// As DeviceDesc::kind says it.
  virtual std::string_view kind() const { return DeviceKind::Cpu; }
  /// Loads a kernel with a grid from the first image that the device can run; `images` is what the plan has for this
  /// kind of device. The kernel and the images stay as long as the device is lent. Errors: CpuFeatures when it can
  /// run none, Unsupported for an attribute or a tensor map that the device does not know.
  virtual Result<const void*> load(const KernelDesc& kernel, std::span<const DeviceImage> images) {
    return fail(Diag::CpuFeatures, "a device of kind '" + std::string(kind()) + "' loads none of the " +
                                       std::to_string(images.size()) + " images of kernel '" + kernel.name + "'");
  }
  /// An address of the device, aligned to kPlanAlignment; contents undefined. Errors: DeviceFailure.
  virtual Result<void*> allocate(uint64_t bytes) = 0;
  virtual void release(void* memory, uint64_t bytes) = 0;

  virtual Ticket launch(const DeviceLaunch& launch, uint32_t tag) = 0;
  virtual Ticket copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) = 0;
  virtual Ticket copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) = 0;
  virtual Ticket copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) = 0;

  /// An event between queues: what is given from here on is begun when `ticket` of `other` is done, well or not. 0 when
  /// this device cannot wait for that one; then the host does.
  virtual Ticket waitFor(Device& /*other*/, Ticket /*ticket*/, uint32_t /*tag*/) { return 0; }
  /// Returns when the ticket is done. After a failure nothing more is done until reset().
  virtual std::optional<Failure> wait(Ticket ticket) = 0;
  /// Makes the device usable again after a failure. Its memory stays allocated; the contents may be gone. Nothing is
  /// being waited for.
  virtual void reset() = 0;
  /// Whether it is gone for good, from a failure on: every wait fails, reset() cannot help, and its memory went with
  /// it. The instance that it is lent to is of no more use; nothing of it is released on the device.
  virtual bool isLost() const { return false; }
};

/// What to do next.
inline const char* helpAfterFailure(const Device& device) {
  return device.isLost() ? "free the instance, and make another one on a device that is there"
                         : "run again; the device starts anew";
}

}  // namespace svod
