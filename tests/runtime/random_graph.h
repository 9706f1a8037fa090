// Random graphs of hash steps, on one device or on several.
#pragma once
#include <random>

#include "plan/memory_plan.h"
#include "runtime/harness.h"

namespace svod {

constexpr uint64_t kWords = 256;

inline uint32_t mix(uint32_t x, uint32_t y, uint32_t salt) {
  uint32_t h = x * 2654435761u ^ (y + 0x9e3779b9u + salt);
  h ^= h >> 15;
  return h * 2246822519u;
}

/// A random graph of hash steps over arena buffers, each value used a few times, on a random device, with the planned
/// (reused) arenas; operands are copied to where a step runs. Every step's result ends in the output through a last
/// chain. `expected` is what the output must be.
struct RandomGraph {
  PlanBuilder builder;
  std::vector<uint32_t> input = std::vector<uint32_t>(kWords), expected;
  std::vector<std::vector<uint32_t>> values;  // of the input, of t1, t2, … and of the output

  RandomGraph(uint32_t seed, uint32_t count, MemoryMode mode, uint64_t budget, uint32_t devices = 1) {
    std::mt19937 random(seed);
    for (uint32_t d = 1; d < devices; d++)
      builder.plan.devices.push_back({"d" + std::to_string(d), DeviceKind::Cpu, 0});
    for (uint32_t& word : input) word = static_cast<uint32_t>(random());
    const auto words = Expr(static_cast<int64_t>(kWords));
    std::vector<BufferId> buffers = {builder.input("x", kWords, words, ElementType::U32)};
    values = {input};
    for (uint32_t i = 1; i <= count; i++) {
      const size_t back = std::min<size_t>(buffers.size(), 12);
      const size_t a = buffers.size() - 1 - random() % back, b = buffers.size() - 1 - random() % back;
      builder.device = DeviceId(i == count || devices == 1 ? 0 : random() % devices);
      const BufferId to = i == count ? builder.output("y", kWords, words, ElementType::U32)
                                     : builder.arena("t" + std::to_string(i), kWords, ElementType::U32);
      builder.launch("k_mix", {here(buffers[a]), here(buffers[b]), to}, {R, R, W},
                     {words, Expr(static_cast<int64_t>(i))});
      buffers.push_back(to);
      std::vector<uint32_t>& value = values.emplace_back(kWords);
      for (size_t k = 0; k < kWords; k++) value[k] = mix(values[a][k], values[b][k], i);
    }
    expected = values.back();
    // Estimates large enough that the runtime shares every step.
    for (KernelDesc& kernel : builder.plan.kernels) kernel.flops = 1'000'000;
    planMemory(builder.plan, {mode, budget, {}});
  }

  /// The value on the builder's device.
  BufferId here(BufferId value) {
    if (deviceOf(builder.plan, value) == builder.device) return value;
    const std::string name = builder.plan.buffers[value].name + " copied";
    const BufferId copy = builder.arena(name, kWords, ElementType::U32);
    builder.step(Copy{copy, value, static_cast<int64_t>(kWords * 4)});
    return copy;
  }
};

}  // namespace svod
