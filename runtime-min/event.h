// A count that goes up: threads and submitted runs wait for it. Waiting allocates nothing, as who waits is a link of
// the list of those who do.
#pragma once
#include <pthread.h>

#include <cstdint>
#include <mutex>

#include "runtime-min/process.h"

namespace svod {

class Event {
 public:
  /// What goes on, on the thread that counts, when the count is reached, or when nothing will reach it.
  class Waiter {
   public:
    virtual void reached(bool isFailed) = 0;

   protected:
    ~Waiter() = default;

   private:
    friend class Event;
    Waiter* next_ = nullptr;
    uint64_t count_ = 0;
  };
  enum class Held { No, Yes, Failed };

  void add(uint64_t count) { change(count, false); }
  /// Everything that waits, now or later, fails.
  void fail() { change(0, true); }
  /// Nobody is waiting.
  void reset();
  uint64_t count() const;
  /// Returns when the count is reached; false when the event failed.
  bool wait(uint64_t count);

  /// Yes: `waiter` is called back later, once, unless withdraw() returns true for it.
  Held hold(Waiter& waiter, uint64_t count);
  bool withdraw(Waiter& waiter);

 private:
  /// In a forked child nobody waits, and nobody is in here.
  [[gnu::noinline]] void adopt() const;
  void change(uint64_t count, bool isFailed);
  /// Takes those out of the list that need not wait, in their order.
  Waiter* takeReached();

  mutable Owner owner_;
  mutable std::mutex mutex_;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  uint64_t count_ = 0;
  bool isFailed_ = false;
  Waiter* first_ = nullptr;
};

}  // namespace svod
