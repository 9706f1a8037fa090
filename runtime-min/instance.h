// One user of a plan: its memory, bindings and states, and the machinery that runs it.
#pragma once
#include <memory>
#include <vector>

#include "plan/arena.h"
#include "runtime-min/bindings.h"
#include "runtime-min/device_memory.h"
#include "runtime-min/loaded_plan.h"
#include "runtime-min/memory_block.h"
#include "runtime-min/port_copies.h"
#include "runtime-min/run.h"
#include "runtime-min/submission.h"

namespace svod {

class Instance {
 public:
  /// `devices` by DeviceId, null or missing where the host runs what the plan has there; they outlive the instance.
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const LoadedPlan> loaded,
                                                  const svod_instance_options& options, Pool* pool,
                                                  std::vector<Device*> devices = {});
  ~Instance();
  /// Devices that the instance was lent and that go with it.
  void own(std::vector<std::unique_ptr<Device>> devices) { owned_ = std::move(devices); }
  std::span<const std::unique_ptr<Device>> owned() const { return owned_; }

  const LoadedPlan& loaded() const { return *loaded_; }
  Bindings& bindings() { return bindings_; }
  Run& run() { return *run_; }
  const Run& run() const { return *run_; }
  /// Where the state is: an address of a device for one that is on a lent device.
  void* state(StateId id) const { return pointers_[loaded_->plan().states[id].buffer]; }
  bool isOnHost(StateId id) const { return !onDevices_.has(states_[id].device); }
  /// Copies a whole state from or to memory of the host, wherever it is. Errors: DeviceFailure, DeviceLost.
  Status readState(StateId id, void* data);
  Status writeState(StateId id, const void* data);
  /// Copies of an intermediate, by its index, go to `data`; null ends them.
  Status probe(size_t index, void* data, uint64_t bytes);
  /// States on devices follow at the beginning of the next run.
  void resetStates();
  /// Moves the state with its contents to `data` on a device, or for device 0 back to memory of the instance.
  Status bindState(StateId id, DeviceId device, void* data);
  /// execute() in two halves: checks everything and fixes what the run gets, then runs.
  Status prepare() { return isPrepared() ? Status() : prepareAnew(); }
  Status runPrepared(uint64_t seed, bool waits = true);
  /// execute() that waits for devices only where the host has a part in the run.
  Status enqueue(uint64_t seed);
  /// The end of all runs that were enqueued. Errors, besides theirs: Usage where none was.
  Status waitEnqueued();
  bool isEnqueuedDone() const { return !isEnqueued_.load() || run_->isSettled(); }
  Status useStream(DeviceId device, void* stream) const { return onDevices_.useStream(device, stream); }
  Status execute(uint64_t seed) {
    if (!isPrepared()) SVOD_CHECK(prepareAnew());
    return runPrepared(seed);
  }
  Submission& submission() { return submission_; }
  const Submission& submission() const { return submission_; }

 private:
  Instance(std::shared_ptr<const LoadedPlan> loaded, Pool* pool)
      : loaded_(std::move(loaded)), bindings_(*loaded_), pool_(pool), submission_(*this, pool) {}
  Status allocate();
  Status allocateTogether();
  Status allocateSeparately();
  /// Lays out the arenas that are laid out for every run.
  Status placeArenas();
  /// At least so many bytes; `most` where they come from the system and cost nothing until they are touched.
  Status makeRoom(MemoryBlock& block, uint64_t bytes, uint64_t most, uint64_t alignment, const char* purpose) const;
  Status moveState(StateId id, DeviceId device, void* to);
  /// `isZero`: all memory of states is zero already.
  void fillStates(bool isZero);
  /// Nothing was bound or set since the last run.
  bool isPrepared() const { return bindings_.isComplete() && prepared_ == bindings_.version(); }
  Status prepareAnew();
  Status sendStates();
  Status placeExternal();
  /// Puts copies of ports where the ports are, or, `isWatched`, where they are in the arena.
  void placeCopies(bool isWatched);
  void chooseHugePages();
  Status checkExpectations() const;

  std::vector<std::unique_ptr<Device>> owned_;
  std::shared_ptr<const LoadedPlan> loaded_;
  Bindings bindings_;
  Pool* pool_;
  Submission submission_;
  std::unique_ptr<Run> run_;
  DeviceMemory onDevices_;
  svod_memory memory_{};
  std::vector<MemoryBlock> blocks_;  // arenas by DeviceId and states, or separate memory by BufferId
  ArenaUnits units_;
  std::vector<void*> pointers_;  // by BufferId
  struct StatePlace {
    void* own = nullptr;    // of the instance
    DeviceId home, device;  // where that is, and where the state is; 0: the host
  };
  std::vector<StatePlace> states_;       // by StateId
  std::vector<PortCopy> copies_;         // that devices hold
  std::vector<uint8_t> bound_;           // by DeviceId: whether memory of it is bound
  bool isReset_ = false;                 // what is on devices is not yet
  std::atomic<bool> isEnqueued_{false};  // nobody has waited for a run since
  std::vector<uint64_t> sizes_;          // by BufferId: bytes that are really there
  bool usesHugePages_ = false;           // in a vast arena
  uint64_t prepared_ = UINT64_MAX;       // the version of the bindings run_ was prepared for
};

}  // namespace svod
