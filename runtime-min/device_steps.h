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
  /// Where an input or output is in the runs that follow; all its copies are from or to that device.
  void placePort(BufferId buffer, DeviceId device) { places_[buffer] = device; }
  bool isOnDevice(StepId step) const { return any_ && homes_[step] != 0; }

  /// To be called before a step: makes its queue, or the host, wait for what it depends on and its queue does not
  /// order.
  Status await(StepId step);
  /// Gives a launch, or a copy of so many bytes, to its queue. Between two devices it goes through memory of the host.
  void launch(StepId step, const DeviceLaunch& launch);
  Status copy(StepId step, void* to, const void* from, uint64_t bytes);
  /// Copies from a buffer that the step wrote to the host, when the step is done.
  Status fetch(StepId step, BufferId buffer, void* to, const void* from, uint64_t bytes);
  /// Waits for everything that was given. The first error in the order of devices.
  Status settle();
  /// An error when a device is lost.
  Status checkPresent() const;
  /// Waits for everything, whatever comes of it, and makes failed devices usable again where they are not lost; true
  /// when there were any.
  bool recover();

 private:
  DeviceId placeOf(BufferId buffer) const;
  Status wait(DeviceId device, Device::Ticket ticket);
  void gave(StepId step, DeviceId device, Device::Ticket ticket);
  Status order(StepId step, DeviceId device, DeviceId after, Device::Ticket ticket);
  Status copyAcross(StepId step, DeviceId target, void* to, DeviceId source, const void* from, uint64_t bytes);
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
