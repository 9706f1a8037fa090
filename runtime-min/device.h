// A device with memory that the host cannot touch. Its work is given to a queue and done later, in the order in which
// it was given. Whoever makes an instance lends it devices (Instance::create), each to one instance at a time: several
// instances on one piece of hardware have a queue of it each, as Devices of their own. A device of the plan that is not
// lent is the host, whose memory its arena then is.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime-min/program.h"
#include "support/result.h"

namespace svod {

/// A tensor map of a launch with its sizes: axes are innermost first, strides in bytes between neighbours of all axes
/// but the first.
struct DeviceTensorMap {
  const TensorMap* desc = nullptr;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides{};
};

/// A kernel on all its tiles, or, where it has a grid, on all its workgroups. What is pointed to stays as it is until
/// the work is done; the buffers are addresses of the device.
struct DeviceLaunch {
  KernelFunction function = nullptr;
  void* const* buffers = nullptr;
  uint32_t bufferCount = 0;
  const int64_t* values = nullptr;
  int64_t tiles = 0;
  uint64_t scratchBytes = 0;
  // With a grid:
  const void* loaded = nullptr;  // what Device::load gave, in place of the function
  std::array<int64_t, 3> groups = {1, 1, 1};
  uint32_t valueCount = 0;
  std::span<const DeviceTensorMap> tensorMaps = {};
};

/// An image that holds a kernel, and what the plan says of it.
struct DeviceImage {
  const FileDesc& file;
  const KernelImage& needs;
  std::span<const std::byte> bytes;  // stay where they are as long as the device is lent
};

/// A launch, or a copy of so many bytes. `tag` is what a failure of it is known by.
struct DeviceWork {
  enum class Kind : uint8_t { Launch, CopyIn, CopyOut, CopyWithin };
  Kind kind = Kind::Launch;
  uint32_t tag = 0;
  Range after = {};  // in DeviceBatch::after: works of the batch, before this one, that have to be done first
  DeviceLaunch launch = {};
  void* to = nullptr;
  const void* from = nullptr;
  uint64_t bytes = 0;
  bool isSame(const DeviceWork& other) const { return kind == other.kind && tag == other.tag; }
};

/// Works that are given together, again and again, with other addresses and sizes now and then. They stand in an order
/// that their dependencies allow.
struct DeviceBatch {
  /// What a device made of the batch, to be used the next time. Goes before the device.
  struct Kept {
    virtual ~Kept() = default;
  };
  std::vector<DeviceWork> works;
  std::vector<uint32_t> after;
  std::vector<std::unique_ptr<int64_t[]>> values;  // of launches that are there with several
  uint64_t version = 0;                            // counts changes
  std::unique_ptr<Kept> kept = {};
};

/// When a work began and ended, in nanoseconds of CLOCK_MONOTONIC as far as the device can tell.
struct DeviceTime {
  uint64_t begin = 0, end = 0;
};

/// Bytes of the host that are copied to a device before runs.
struct DeviceUpload {
  void* to = nullptr;
  const void* from = nullptr;
  uint64_t bytes = 0;
};

/// Any thread may give work and wait.
class Device {
 public:
  /// Counts what was given, from 1 on: a ticket is done when everything up to it is.
  using Ticket = uint64_t;
  struct Failure {
    uint32_t tag = 0;  // of the first work that failed
    std::string what;
    uint32_t last = 0;  // above `tag` where it may have been any work of a batch up to the one with this tag
  };

  virtual ~Device() = default;
  /// As DeviceDesc::kind says it.
  virtual std::string_view kind() const { return DeviceKind::Cpu; }
  /// The architecture whose images are the best that the device can run. `files` are all of the plan, of which images
  /// for this kind of device count. Errors: CpuFeatures when it can run none.
  virtual Result<std::string_view> choose(std::span<const FileDesc> /*files*/) {
    return fail(Diag::CpuFeatures, "the device loads no kernels");
  }
  /// Loads a kernel with a grid from its image for the architecture that was chosen. The kernel stays as long as the
  /// device is lent. Errors: Unsupported for an attribute or a tensor map that the device does not know.
  virtual Result<const void*> load(const KernelDesc& kernel, const DeviceImage& /*image*/) {
    return fail(Diag::CpuFeatures, kernel.name);
  }
  /// An address of the device, aligned to kDeviceAlignment; contents undefined. Errors: DeviceFailure, DeviceBusy.
  virtual Result<void*> allocate(uint64_t bytes) = 0;
  virtual void release(void* memory, uint64_t bytes) = 0;
  /// Whether so many bytes at `address` are memory of this device. Errors: InputMismatch.
  virtual Status checkAddress(const void* /*address*/, uint64_t /*bytes*/) { return {}; }

  virtual Ticket launch(const DeviceLaunch& launch, uint32_t tag) = 0;
  virtual Ticket copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) = 0;
  virtual Ticket copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) = 0;
  virtual Ticket copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) = 0;
  /// From memory of `other`, in the order of this queue. 0 when there is no way between the two; then it goes by the
  /// host.
  virtual Ticket copyFrom(Device& /*other*/, void* /*to*/, const void* /*from*/, uint64_t /*bytes*/, uint32_t /*tag*/) {
    return 0;
  }
  /// Whether what a batch points to is read when it is given: else it stays as it is until the works are done.
  virtual bool readsAtOnce() const { return false; }
  /// All works of a batch.
  virtual Ticket give(DeviceBatch& batch) {
    Ticket last = 0;
    for (const DeviceWork& work : batch.works) last = giveOne(work);
    return last;
  }
  /// The same one after the other, with the time of each in `times`; returns when all are done.
  virtual std::optional<Failure> time(DeviceBatch& batch, std::span<DeviceTime> times);
  /// Copies that are done when it returns.
  virtual std::optional<Failure> upload(std::span<const DeviceUpload> uploads) {
    Ticket last = 0;
    for (const DeviceUpload& each : uploads) last = copyIn(each.to, each.from, each.bytes, 0);
    return last == 0 ? std::nullopt : wait(last);
  }

  /// An event between queues: what is given from here on is begun when `ticket` of `other` is done, well or not. 0 when
  /// this device cannot wait for that one; then the host does.
  virtual Ticket waitFor(Device& /*other*/, Ticket /*ticket*/, uint32_t /*tag*/) { return 0; }
  /// What is given from here on goes into `stream`, a queue of the caller's, behind what was given before. Errors:
  /// Unsupported where the device has none, InputMismatch for one of another device.
  virtual Status useStream(void* stream);
  /// A run begins: in a queue of the device's own it comes behind what others gave to the usual queue until now, where
  /// memory of theirs is bound.
  virtual Status beginRun(bool /*isBound*/) { return {}; }
  /// Returns when the ticket is done; ticket 0 is, so that a failure known by now is told. After a failure nothing more
  /// is done until reset().
  virtual std::optional<Failure> wait(Ticket ticket) = 0;
  /// Whether it is done, or failed.
  virtual bool isDone(Ticket ticket) { return (void)wait(ticket), true; }
  /// Makes the device usable again after a failure. Its memory stays allocated; the contents may be gone. Nothing is
  /// being waited for.
  virtual void reset() = 0;
  /// Whether it is gone for good, from a failure on: every wait fails, reset() cannot help, and its memory went with
  /// it. The instance that it is lent to is of no more use; nothing of it is released on the device.
  virtual bool isLost() const { return false; }
  /// What a user should know of what was done so far, each in a line.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What it is, and which images were taken, each in a line.
  virtual std::vector<std::string> describe() const { return {}; }

 protected:
  Ticket giveOne(const DeviceWork& work);
};

/// Of what devices allocate: more than kPlanAlignment, so that whole lines are read.
inline constexpr uint64_t kDeviceAlignment = 256;

/// What an error says of the device, and what to do next.
inline Diag diagAfterFailure(const Device& device) { return device.isLost() ? Diag::DeviceLost : Diag::DeviceFailure; }
inline const char* helpAfterFailure(const Device& device) {
  return device.isLost() ? "free the instance, and make another one on a device that is there"
                         : "run again; the device starts anew";
}

}  // namespace svod
