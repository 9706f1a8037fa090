// What the handles of the C interface hold.
#pragma once
#include <memory>

#include "runtime-min/event.h"
#include "runtime-min/instance.h"
#include "svod/runtime.h"

struct svod_plan {
  std::shared_ptr<const svod::LoadedPlan> loaded;
};
struct svod_pool {
  svod::Pool pool;
};
struct svod_event {
  svod::Event event;
};
struct svod_instance {
  std::unique_ptr<svod::Instance> inner;
  std::string text = {};  // what was asked for last
};
