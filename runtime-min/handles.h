// What the handles of the C interface hold.
#pragma once
#include <atomic>
#include <memory>

#include "runtime-min/event.h"
#include "runtime-min/instance.h"
#include "svod/runtime.h"

struct svod_plan {
  std::shared_ptr<const svod::LoadedPlan> loaded;
};
struct svod_pool {
  std::shared_ptr<svod::Pool> pool;
};
struct svod_event {
  svod::Event event;
};
struct svod_instance {
  std::shared_ptr<svod::Pool> pool;  // goes after what uses it
  std::unique_ptr<svod::Instance> inner;
  std::string text = {};                         // what was asked for last
  mutable std::atomic<uint32_t> inside{0};       // the process that has a thread in a call for the instance
  const uint32_t process = svod::thisProcess();  // that its devices belong to

  bool ownsDevices() const {
    for (const auto& device : inner->owned())
      if (device != nullptr) return true;
    return false;
  }
};
