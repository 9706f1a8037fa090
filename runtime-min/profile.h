// Times of a run, written without locks or allocation: every worker has its own totals and its own ring of
// events.
#pragma once
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "plan/plan.h"

namespace svod {

struct TraceEvent {
  StepId step = 0;
  uint64_t start = 0, end = 0;  // nanoseconds
  int64_t tileBegin = 0, tileEnd = 0;
};

class Profile {
 public:
  Profile() = default;
  Profile(size_t steps, size_t workers, size_t events) : calls_(steps), workers_(workers) {
    for (Worker& worker : workers_) {
      worker.busy.resize(steps);
      worker.ring.resize(events);
    }
  }
  bool on() const { return !workers_.empty(); }
  static uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

  /// One piece of work, by the worker that did it.
  void add(uint32_t worker, const TraceEvent& event) {
    Worker& mine = workers_[worker];
    mine.busy[event.step] += event.end - event.start;
    if (!mine.ring.empty()) mine.ring[mine.events++ % mine.ring.size()] = event;
  }
  /// The step began, or ended: each by one worker, and in an order the steps' dependencies give.
  void begin(StepId step, uint64_t time) { calls_[step].begin = time; }
  void end(StepId step, uint64_t time, uint64_t flops, uint64_t bytes) {
    Calls& calls = calls_[step];
    calls.count++;
    calls.wall += time - calls.begin;
    calls.flops += flops;
    calls.bytes += bytes;
  }

  struct Calls {
    uint64_t begin = 0, count = 0, wall = 0, flops = 0, bytes = 0;
  };
  const Calls& calls(StepId step) const { return calls_[step]; }
  uint64_t busy(StepId step) const {
    uint64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.busy[step];
    return sum;
  }
  size_t eventCount() const {
    size_t count = 0;
    for (const Worker& worker : workers_) count += kept(worker);
    return count;
  }
  uint64_t dropped() const {
    uint64_t count = 0;
    for (const Worker& worker : workers_) count += worker.ring.empty() ? 0 : worker.events - kept(worker);
    return count;
  }
  /// By worker, oldest first. `index` is below eventCount().
  const TraceEvent& event(size_t index, uint32_t& worker) const {
    for (worker = 0; index >= kept(workers_[worker]); worker++) index -= kept(workers_[worker]);
    const Worker& from = workers_[worker];
    return from.ring[(from.events - kept(from) + index) % from.ring.size()];
  }
  void reset() {
    std::fill(calls_.begin(), calls_.end(), Calls{});
    for (Worker& worker : workers_) {
      std::fill(worker.busy.begin(), worker.busy.end(), 0);
      worker.events = 0;
    }
  }

 private:
  struct alignas(64) Worker {
    std::vector<uint64_t> busy;  // nanoseconds, by step
    std::vector<TraceEvent> ring;
    uint64_t events = 0;
  };
  static size_t kept(const Worker& worker) { return std::min<uint64_t>(worker.events, worker.ring.size()); }

  std::vector<Calls> calls_;
  std::vector<Worker> workers_;
};

}  // namespace svod
