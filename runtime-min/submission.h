// A run that goes on while its caller does: held until its events are reached, then queued, then done by a thread of
// the pool or by whoever waits for it first, without a pool always by the latter. Nothing here allocates.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "runtime-min/event.h"
#include "runtime-min/pool.h"
#include "runtime-min/process.h"
#include "support/result.h"
#include "svod/runtime.h"

namespace svod {

class Instance;

/// What is said where nobody began the run that is waited for.
inline constexpr const char *kNoRun = "the instance has no submitted run",
                            *kNoRunHelp = "call svod_submit or svod_enqueue first";

class Submission final : public Task, public Event::Waiter {
 public:
  Submission(Instance& instance, Pool* pool) : instance_(instance), pool_(pool) {}

  /// Whether no run was submitted that wait() did not return from.
  bool isIdle() const { return phase_.load(std::memory_order_acquire) == kIdle; }
  bool isDone() const { return phase_.load(std::memory_order_acquire) == kDone || isElsewhere(); }

  /// The instance is prepared and idle. `after` is borrowed until wait() returns, `done` may be null.
  void submit(std::span<const svod_event_point> after, Event* done, uint64_t seed);
  /// Of a submitted run: of several threads one gets its result. Errors, besides those of the run: Usage without one.
  Status wait();
  /// From any thread or signal handler, after Run::stop(): a wait() for a run that is held ends.
  void stop();

  void perform() override;
  void reached(bool isFailed) override;

 private:
  // Stopped is held, and to be withdrawn.
  enum Phase : uint32_t { kIdle, kHeld, kStopped, kQueued, kRunning, kDone, kTaken };

  /// Submitted in the process that this one was forked from: it goes on there.
  bool isElsewhere() const { return process_ != thisProcess(); }
  void advance();
  void queue();
  bool withdrawFromEvents();
  void end(Status result);

  Instance& instance_;
  Pool* pool_;
  std::span<const svod_event_point> after_;
  size_t next_ = 0;  // of after_: what it waits for
  bool isRefused_ = false;
  Event* done_ = nullptr;
  uint64_t seed_ = 0;
  Status result_;
  uint32_t process_ = thisProcess();
  std::atomic<uint32_t> phase_{kIdle};
};

}  // namespace svod
