// Worker threads that sleep until there is something to do: a run to begin, or one to join.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime-min/process.h"
#include "runtime-min/processors.h"

namespace svod {

/// What the threads of a pool work on together.
class Job {
 public:
  virtual void work(uint32_t worker) = 0;  // returns when the job is finished, on every worker

 protected:
  ~Job() = default;
};

/// What one thread of a pool does when it is free, or somebody else who withdraws it.
class Task {
 public:
  virtual void perform() = 0;  // may end with the task freed

 protected:
  ~Task() = default;

 private:
  friend class Pool;
  Task* next_ = nullptr;
};

/// In a forked child its threads are started anew by the first who needs them, and nobody waits for those of the
/// parent.
class Pool {
 public:
  /// `threads` counts the caller of run().
  explicit Pool(size_t threads);
  ~Pool();
  size_t threads() const { return threads_.size() + 1; }
  /// Fewer where the system starts no more.
  size_t started() const { return started_ + 1; }

  /// Runs `job` on the caller as worker 0 and on all threads that wake up in time; returns when nobody is
  /// inside it. False, with nothing done, when another run has the pool.
  bool run(Job& job);

  /// Tasks are begun in the order in which they were submitted, by the threads that are in no job.
  void submit(Task& task);
  /// True when nobody has begun it: it is the caller's then.
  bool withdraw(Task& task);

 private:
  struct Member {
    Pool* pool;
    uint32_t worker;
    pthread_t thread;
  };
  [[gnu::noinline]] void start();
  [[gnu::noinline]] void adopt();
  void threadMain(uint32_t worker);
  Task* take();

  Owner owner_;
  std::atomic<bool> busy_{false};
  alignas(64) std::atomic<uint32_t> epoch_{0};  // counts offers; threads sleep on it
  alignas(64) std::atomic<Job*> job_{nullptr};
  alignas(64) std::atomic<uint32_t> inside_{0};  // threads that may be touching job_
  std::atomic<bool> closing_{false};
  std::mutex mutex_;                               // of the tasks
  alignas(64) std::atomic<Task*> first_{nullptr};  // changed under the mutex
  std::vector<Member> threads_;                    // never moves: each knows its own place
  size_t started_ = 0;                             // of them
};

inline void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace svod
