// Instances whose devices have memory of their own.
#pragma once
#include "runtime-min/instance.h"
#include "runtime/loop_plan.h"
#include "runtime/separate_device.h"

namespace svod {

/// An instance of the plan, whose devices from 1 on are separate ones.
struct Separate {
  std::vector<std::unique_ptr<SeparateDevice>> devices;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Instance> instance;

  Separate(const std::string& path, uint32_t seed, size_t threads, uint32_t microseconds = 60) {
    auto loaded = LoadedPlan::fromDirectory(path, {});
    if (!loaded) FAIL(toText(loaded.error()));
    std::vector<Device*> lent(1, nullptr);
    for (size_t i = 1; i < (*loaded)->plan().devices.size(); i++) {
      devices.push_back(std::make_unique<SeparateDevice>(seed + static_cast<uint32_t>(i), microseconds));
      lent.push_back(devices.back().get());
    }
    if (threads > 1) pool = std::make_unique<Pool>(threads);
    auto made = Instance::create(*loaded, {}, pool.get(), std::move(lent));
    if (!made) FAIL(toText(made.error()));
    instance = std::move(*made);
  }
  ~Separate() {
    instance.reset();
    for (const auto& device : devices) CHECK((device->isLost() || device->allocations() == 0));
  }

  template <class T>
  void bind(const std::vector<T>& input, std::vector<T>& output) {
    const uint64_t in = input.size();
    CHECK(instance->bindings().bindInput(0, nullptr, {&in, 1}, input.data()));
    CHECK(instance->bindings().bindOutput(0, output.data(), output.size() * sizeof(T)));
  }
};

inline void checkLoop(Separate& s, int64_t trips) {
  std::vector<float> y(8, 0);
  s.bind(kLoopInput, y);
  CHECK(s.instance->bindings().setVariable(0, trips));
  const Status status = s.instance->execute(0);
  if (!status) FAIL(toText(status.error()));
  CHECK(y == loopResult(kLoopInput, trips));
}

}  // namespace svod
