#include "runtime-min/process.h"

#include <pthread.h>
#include <sched.h>

namespace svod {

namespace {

std::atomic<uint32_t> forks{1};

void countFork() { forks.fetch_add(1, std::memory_order_relaxed); }

/// Before any function of the interface is called.
[[gnu::constructor]] void watchForks() { ::pthread_atfork(nullptr, nullptr, countFork); }

}  // namespace

void Owner::change(void (*renew)(void* object), void* object) {
  const uint32_t here = thisProcess();
  uint32_t seen = process_.load(std::memory_order_acquire);
  if (seen != kChanging && seen != here && process_.compare_exchange_strong(seen, kChanging)) {
    renew(object);
    process_.store(here, std::memory_order_release);
  }
  while (!isHere()) ::sched_yield();
}

uint32_t thisProcess() { return forks.load(std::memory_order_relaxed); }

}  // namespace svod
