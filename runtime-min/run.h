// Executes the steps of one instance. Everything is allocated when it is made; a run only fills it in.
//
// A step is ready when its last dependency finishes. Ready steps go to the deque of the worker that made them
// so; idle workers steal, or join a kernel with many tiles. The body of a loop is a scope of its own: when
// its last step finishes, that worker starts the next iteration or finishes the loop's step. A single worker
// walks the steps in plan order without any counting.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime-min/deque.h"
#include "runtime-min/device_code.h"
#include "runtime-min/device_steps.h"
#include "runtime-min/host_call.h"
#include "runtime-min/loaded_plan.h"
#include "runtime-min/memory_block.h"
#include "runtime-min/pool.h"
#include "runtime-min/probes.h"
#include "runtime-min/profile.h"

namespace svod {

class Run final : public Job {
 public:
  struct Config {
    size_t workers = 1;
    std::vector<svod_host_entry> functions;  // by Program::hostFunctions
    bool profile = false;
    size_t traceEvents = 0;             // per worker
    svod_memory memory = {};            // no functions: the system's
    std::vector<Device*> devices = {};  // by DeviceId; null or missing: the host
    LoadedKernels loaded;
  };
  static Result<std::unique_ptr<Run>> create(const LoadedPlan& loaded, Config config);
  ~Run();

  /// Sets what kernels and copies get: `variables` by VariableId, `pointers` and actual `sizes` by BufferId.
  /// `elsewhere`: argument slots that get another pointer than their buffer has.
  Status prepare(std::span<const int64_t> variables, std::span<void* const> pointers, std::span<const uint64_t> sizes,
                 std::span<const std::pair<uint32_t, void*>> elsewhere = {});
  void placePort(BufferId buffer, DeviceId device) { devices_.placePort(buffer, device); }
  DeviceId placeOf(BufferId buffer) const { return devices_.placeOf(buffer); }
  /// Runs all steps; `seed` not 0 draws the order of independent steps from it. `waits`: for what devices were given.
  Status execute(Pool* pool, uint64_t seed, bool waits = true);
  /// Whether devices do everything and look at nothing later, so that nobody has to wait between runs.
  bool isAhead() const { return isAhead_; }
  /// Waits for runs that were not waited for.
  Status settle(bool waits = true);
  bool isSettled() const { return !devices_.any() || devices_.isSettled(); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool isStopped() const { return stop_.load(std::memory_order_relaxed); }
  void clearStop() { stop_.store(false, std::memory_order_relaxed); }
  Profile& profile() { return profile_; }
  const Profile& profile() const { return profile_; }
  Probes& probes() { return probes_; }
  const Probes& probes() const { return probes_; }
  /// What the step launches at the sizes that were bound last, or null.
  const Launch* launched(StepId step) const { return chosen_[step].launch; }
  bool usesDevices() const { return devices_.any(); }
  Status checkDevicesPresent() const { return devices_.checkPresent(); }
  /// Whether a device failed and started anew: what was copied to it before runs may be gone.
  bool lostMemory() const { return lostMemory_; }
  void restoredMemory() { lostMemory_ = false; }

  void work(uint32_t worker) override;

  /// Bytes that `workers` workers allocate for this plan, without the tables of a profile.
  static uint64_t bytesFor(const LoadedPlan& loaded, size_t workers);

 private:
  static constexpr StepId kNone = Deque::kNone;

  /// What a launch, copy or call does under the current variables.
  struct Work {
    int64_t tiles = 0;
    uint32_t tasks = 1;             // equal shares of the tiles that workers take one at a time
    uint64_t flops = 0, bytes = 0;  // estimates; a Copy moves exactly bytes / 2
  };
  /// A launch on the host as its function is called; of other steps without one.
  struct HostLaunch {
    KernelFunction function = nullptr;
    void* const* args = nullptr;
    const int64_t* values = nullptr;
    int64_t tiles = 0;
  };
  /// What a step launches at the sizes of the run: its own kernel or that of a case.
  struct Chosen {
    const Launch* launch = nullptr;
    ProgramLaunch call;
    const void* loaded = nullptr;  // of a kernel with a grid
    uint32_t number = 0;           // of the case, from 1 on; 0: its own
  };
  /// What comes after a step in a batch comes after this work, or after several.
  struct WorkPlace {
    uint32_t work = 0;
    bool isList = false;  // nothing to do, or a loop
    Range list;           // in DeviceBatch::after
  };
  struct alignas(64) Worker {
    Deque deque;
    std::atomic<StepId> shared{kNone};  // a step of several tasks that others may join
    MemoryBlock scratch;
    uint64_t random = 0;
  };
  struct ScopeState {
    std::atomic<uint32_t> left{0};  // steps that have not finished
    int64_t trip = 0, trips = 0;
  };

  Run(const LoadedPlan& loaded, Config config);

  Status evaluate(StepId step);
  Status choose(StepId step, const Launch& launch);
  Status evaluateLaunch(StepId step);
  Status evaluateGrid(StepId step, const KernelDesc& kernel, std::span<const int64_t> values);
  Status evaluateCopy(StepId step, const Copy& copy);
  Status evaluateCall(StepId step);
  uint32_t tasksFor(const Work& work, uint64_t scratchBytes) const;
  Result<int64_t> tripsOf(StepId loop) const;
  bool goesOn(StepId loop) const;  // its condition, read before every iteration
  Status beginIteration(uint32_t scope, int64_t trip);

  Status runInOrder(uint32_t scope);
  Status runStepInOrder(StepId step);
  Status runShared(Pool* pool, uint64_t seed);
  Status probe(StepId step);
  Status call(StepId step, uint32_t worker, int64_t tileBegin, int64_t tileEnd);
  Status perform(StepId step, uint32_t worker, int64_t tileBegin, int64_t tileEnd);

  // Of devices (run_devices.cpp).
  void addWork(StepId step, DeviceBatch& batch, std::span<const uint32_t> first);
  Status runWorks(std::span<const StepId> steps, DeviceBatch& batch, uint32_t worker);

  // Loops that one device does alone (run_loops.cpp).
  void findLoops();
  Status runLoop(StepId loop, uint32_t worker);
  Status runLoopByTrips(StepId loop, int64_t trips, uint32_t worker);
  uint64_t worksIn(StepId loop, int64_t trips) const;
  Status unroll(StepId loop, DeviceBatch& batch, std::vector<uint32_t>& ends);
  Status addTrip(StepId loop, DeviceBatch& batch, std::vector<uint32_t>& ends);
  Status awaitDevices(StepId step);
  Status runSegment(const ProgramSegment& segment, uint32_t worker);
  Status runSegmentInOrder(const ProgramSegment& segment);
  DeviceWork workOf(StepId step) const;
  void fillBatch(const ProgramSegment& segment, DeviceBatch& batch);
  Status evaluateTensorMaps(StepId step, const KernelDesc& kernel, std::span<const int64_t> values);

  StepId runStep(StepId step, uint32_t worker);
  void shareOut(StepId step);
  std::optional<uint32_t> claim(StepId step, uint32_t worker);
  bool runTask(StepId step, uint32_t worker, int64_t task);
  std::atomic<uint64_t>* sharesOf(StepId step) { return &shares_[step * workers_.size()]; }
  /// Of the tasks of a worker: whether one is left.
  static bool isOpen(uint64_t share) { return (share & UINT32_MAX) < share >> 32; }
  void startScope(uint32_t scope, uint32_t worker);
  StepId finish(StepId step, uint32_t worker);
  StepId startLoop(StepId step, uint32_t worker);
  StepId joinOther(uint32_t worker, bool& joined);
  StepId stealFrom(uint32_t worker);
  bool anythingToDo();
  void rest(unsigned& idle);
  void makeReady(StepId step, uint32_t worker);
  void wakeOthers();
  void fail(Error error);
  void endRun();
  uint64_t draw(Worker& worker);

  const LoadedPlan& loaded_;
  Config config_;
  DeviceSteps devices_;
  std::unique_ptr<const Program> own_;  // with devices
  const Program& program_;
  Profile profile_;
  Probes probes_;

  std::vector<void*> args_;          // by argument slot
  std::vector<uint64_t> sizes_;      // by argument slot, for host functions and copies
  std::vector<int64_t> values_;      // by value slot
  std::vector<PreparedCall> calls_;  // by ProgramStep::call
  std::vector<int64_t> variables_;
  std::vector<Work> work_;                      // by StepId
  std::vector<Chosen> chosen_;                  // by StepId
  std::vector<HostLaunch> hostLaunches_;        // by StepId
  std::vector<std::array<int64_t, 3>> groups_;  // by StepId; empty without grids
  bool worthSharing_ = false;                   // enough work to wake other threads

  std::vector<DeviceBatch> batches_;  // by Program::segments
  std::vector<uint8_t> isStale_;      // by Program::segments: the batch is not what it does now
  std::vector<const Device*> alone_;  // by scope of a loop: the device that does all of it
  DeviceBatch single_;                // one work, for runs that look at every step
  std::vector<WorkPlace> places_;     // by StepId
  std::vector<uint8_t> isPlaced_;     // by StepId: in the batch that is being filled
  std::vector<DeviceBatch> loops_;    // by scope: all iterations of a loop
  std::vector<uint8_t> isLoopStale_;
  std::vector<std::vector<DeviceTensorMap>> maps_;  // by StepId; empty without grids
  bool lostMemory_ = false, isAhead_ = false;

  std::vector<Worker> workers_;
  std::unique_ptr<std::atomic<uint32_t>[]> pending_;  // by StepId: dependencies that have not finished
  std::unique_ptr<std::atomic<uint64_t>[]> shares_;   // by StepId and worker: the end of its tasks, and the next one
  std::unique_ptr<std::atomic<uint32_t>[]> done_;     // by StepId: finished tasks
  std::vector<ScopeState> scopes_;
  uint64_t seed_ = 0;
  alignas(64) std::atomic<bool> finished_{false};
  std::atomic<bool> stop_{false}, failed_{false};
  std::optional<Error> error_;  // when failed_
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> signal_{0};
};

}  // namespace svod
