// Many instances at once on the same devices: 16 threads, each with an instance and queues of its own.
#pragma once
#include <atomic>
#include <thread>

#include "runtime-min/instance.h"
#include "runtime/random_graph.h"
#include "runtime/separate_device.h"

namespace svod {

/// Every thread runs its instance `runsEach` times, in turn executed and submitted, with and without a pool, and now
/// and then with a queue that fails. Counts what is not as it must be.
inline uint64_t wrongRunsOnSharedDevices(uint32_t runsEach) {
  constexpr size_t kThreads = 16;
  constexpr uint32_t kPlans = 4, kFailEvery = 97;
  TempFolder folder;
  std::vector<RandomGraph> graphs;
  std::vector<std::shared_ptr<const LoadedPlan>> plans;
  for (uint32_t i = 0; i < kPlans; i++) {
    graphs.emplace_back(i + 1, 12 + 4 * i, MemoryMode::Arena, UINT64_MAX, 3);
    const std::string path = folder / ("p" + std::to_string(i));
    graphs[i].builder.write(path, compiledKernels());
    auto loaded = LoadedPlan::fromDirectory(path, {});
    if (!loaded) FAIL(toText(loaded.error()));
    plans.push_back(*loaded);
  }
  Pool pool(4);
  const auto units = std::array{std::make_shared<std::mutex>(), std::make_shared<std::mutex>()};
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> failures{0};
  const auto work = [&](uint32_t id) {
    const RandomGraph& graph = graphs[id % kPlans];
    SeparateDevice first(id, 0, units[0]), second(id, 0, units[1]);
    auto made = Instance::create(plans[id % kPlans], {}, id % 3 == 0 ? nullptr : &pool, {nullptr, &first, &second});
    if (!made) return void(wrong++);
    Instance& instance = **made;
    std::vector<uint32_t> output(kWords);
    const uint64_t shape = kWords;
    for (uint32_t run = 0; run < runsEach; run++) {
      output.assign(kWords, 0);
      Status ready = instance.bindings().bindInput(0, nullptr, {&shape, 1}, graph.input.data());
      if (ready) ready = instance.bindings().bindOutput(0, output.data(), kWords * 4);
      const bool fails = run % kFailEvery == id;
      failures += fails;
      if (fails) first.failAfter(0, run % 2 == 0);
      Status status = ready ? instance.prepare() : ready;
      if (status && run % 2 == 0) {
        instance.submission().submit({}, nullptr, run % 5);
        status = instance.submission().wait();
      } else if (status) {
        status = instance.execute(run % 5);
      }
      if (fails ? status.has_value() : !status || output != graph.expected) wrong++;
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < kThreads; id++) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  CHECK(failures > 0);
  return wrong;
}

}  // namespace svod
