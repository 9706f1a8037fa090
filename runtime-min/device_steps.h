// The steps of a plan that run on devices of their own, and who has to wait for them.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "runtime-min/device.h"

namespace svod {

/// Work of one queue is done in its order; a queue that depends on another one waits for a ticket of it, and so does
/// the host.
class DeviceSteps {
 public:
  DeviceSteps() = default;
  /// `devices` by DeviceId, null for what the host runs itself; borrowed.
  DeviceSteps(const Plan& plan, std::vector<Device*> devices);

  bool any() const { return any_; }
  /// For Program, by StepId: those that share a number may be given together; 0 is the host.
  std::vector<uint32_t> queues() const;
  /// Where an input or output is in the runs that follow; all its copies are from or to that device.
  void placePort(BufferId buffer, DeviceId device) { places_[buffer] = device; }
  /// The device whose memory a buffer is in, where it is bound now.
  DeviceId placeOf(BufferId buffer) const;
  bool isOnDevice(StepId step) const { return any_ && homes_[step] != 0; }

  /// The device whose queue takes a step, where that reads what it is given at once; null for others.
  const Device* readerAtOnce(StepId step) const;
  /// The loop is done by the device that takes `step`, a part of it.
  void adoptLoop(StepId loop, StepId step) { homes_[loop] = homes_[step]; }
  /// The loop is as done as everything that its device was given until now.
  void gaveLoop(StepId loop) { tickets_[loop] = std::max(tickets_[loop], last_[homes_[loop]].load()); }
  /// To be called before a step, or before the first of several that are given together: makes its queue, or the host,
  /// wait for those of `after` that its queue does not order.
  Status await(StepId step, std::span<const StepId> after);
  /// The work of a copy on a device, which is none between two.
  DeviceWork copyWork(StepId step, void* to, const void* from, uint64_t bytes) const;
  bool isAcross(StepId step) const;
  /// Gives the works of `steps`, which have awaited, to their queue. Without works the steps are as done as what came
  /// before.
  void give(std::span<const StepId> steps, DeviceBatch& batch);
  Status time(std::span<const StepId> steps, DeviceBatch& batch, std::span<DeviceTime> times);
  /// A copy between two devices: by a way of theirs, or through memory of the host.
  Status copyAcross(StepId step, void* to, const void* from, uint64_t bytes);
  /// Copies from a buffer that the step wrote to the host, when the step is done.
  Status fetch(StepId step, BufferId buffer, void* to, const void* from, uint64_t bytes);
  /// Waits for everything that was given, or does not wait. The first error, as far as known, in the order of devices.
  Status settle(bool waits = true);
  /// Whether settle() would not wait.
  bool isSettled() const;
  /// An error when a device is lost.
  Status checkPresent() const;
  /// Waits for everything, whatever comes of it, and makes failed devices usable again where they are not lost; true
  /// when there were any.
  bool recover();

 private:
  Status wait(DeviceId device, Device::Ticket ticket);
  void gave(StepId step, DeviceId device, Device::Ticket ticket);
  void share(std::span<const StepId> steps);
  Status order(StepId step, DeviceId device, DeviceId after, Device::Ticket ticket);
  Status failure(DeviceId device, const Device::Failure& failure) const;

  const Plan* plan_ = nullptr;
  std::vector<Device*> devices_;
  bool any_ = false;
  std::vector<DeviceId> places_;                         // by BufferId, but for views: whose memory it is in
  std::vector<DeviceId> homes_;                          // by StepId: whose queue it goes to; 0: none
  std::vector<Device::Ticket> tickets_;                  // by StepId
  std::unique_ptr<std::atomic<Device::Ticket>[]> last_;  // by DeviceId
  std::vector<std::byte> staging_;                       // for copies between two devices
  DeviceId stagingReader_ = 0;                           // who reads it last, and until when
  Device::Ticket stagingRead_ = 0;
  std::unique_ptr<std::mutex> stagingLock_ = std::make_unique<std::mutex>();
};

}  // namespace svod
