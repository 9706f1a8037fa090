#include "web/layout.h"

#include <algorithm>

namespace svod::web {

namespace {

constexpr uint64_t kMostOfBinding = uint64_t{128} << 20;  // that every adapter binds at once

uint64_t aligned(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

class Placer {
 public:
  explicit Placer(const Plan& plan) : plan_(plan) {
    made_.buffers.resize(plan.buffers.size());
    made_.memories = {{"INPUTS", {}}, {"OUTPUTS", {}}};
  }

  WebLayout place() {
    for (size_t i = 0; i < plan_.inputs.size(); i++)
      made_.buffers[plan_.inputs[i].buffer] = {kInputs, "inputs[" + std::to_string(i) + "]", 0};
    for (size_t i = 0; i < plan_.outputs.size(); i++)
      made_.buffers[plan_.outputs[i].buffer] = {kOutputs, "outputs[" + std::to_string(i) + "]", 0};
    for (DeviceId device = 0; device < plan_.devices.size(); device++)
      for (const MemorySpace space : kMemorySpaces) placeArena(device, space);
    placeStates();
    placeWeights();
    for (BufferId id = 0; id < plan_.buffers.size(); id++) {
      const BufferDesc& buffer = plan_.buffers[id];
      if (buffer.place != Place::View) continue;
      made_.buffers[id] = made_.buffers[buffer.base];
      made_.buffers[id].offset += buffer.offset;
    }
    return std::move(made_);
  }

 private:
  /// The first of a kind is "ARENA", the second one "ARENA2".
  uint32_t addMemory(const std::string& kind, std::optional<uint64_t> bytes) {
    const auto same = std::ranges::count_if(made_.memories, [&](const Memory& m) { return m.name.starts_with(kind); });
    made_.memories.push_back({same == 0 ? kind : kind + std::to_string(same + 1), bytes});
    return static_cast<uint32_t>(made_.memories.size() - 1);
  }

  void placeArena(DeviceId device, MemorySpace space) {
    std::vector<BufferId> own;
    for (BufferId id = 0; id < plan_.buffers.size(); id++) {
      const BufferDesc& buffer = plan_.buffers[id];
      if (buffer.place == Place::Arena && buffer.device == device && buffer.space == space) own.push_back(id);
    }
    if (own.empty()) return;
    const uint64_t most = arenaBytes(plan_.devices[device], space);
    const bool isPerRun = plan_.buffers[own.front()].run.has_value();
    const uint32_t memory = addMemory("ARENA", isPerRun ? std::nullopt : std::optional(most));
    const std::string at = "arenas[" + std::to_string(made_.arenas.size()) + "]";
    RunArena arena{memory, most, {}};
    for (const BufferId id : own) {
      const BufferDesc& buffer = plan_.buffers[id];
      made_.buffers[id] = isPerRun ? WebPlace{memory, at + "[" + std::to_string(buffer.run->begin) + "]", 0}
                                   : WebPlace{memory, {}, buffer.offset};
      if (isPerRun) arena.buffers.push_back(&*buffer.run);
    }
    std::ranges::stable_sort(arena.buffers, {}, &RunPlace::end);
    if (isPerRun) made_.arenas.push_back(std::move(arena));
  }

  void placeStates() {
    std::optional<uint32_t> memory;
    for (const State& state : plan_.states) {
      const uint64_t bytes = aligned(plan_.buffers[state.buffer].bytes);
      if (!memory || *made_.memories[*memory].bytes + bytes > kMostOfBinding) memory = addMemory("STATES", 0);
      uint64_t& end = *made_.memories[*memory].bytes;
      made_.buffers[state.buffer] = {*memory, {}, end};
      end += bytes;
    }
  }

  /// A constant without bytes is at the beginning of the first memory of weights: none is read.
  void placeWeights() {
    std::vector<ConstantId> order;
    for (ConstantId id = 0; id < plan_.constants.size(); id++) order.push_back(id);
    std::ranges::stable_sort(order, {}, [&](ConstantId id) { return plan_.constants[id].offset; });
    std::vector<WebPlace> places(plan_.constants.size());
    for (const ConstantId id : order) {
      const Constant& constant = plan_.constants[id];
      const uint64_t end = constant.offset + constant.bytes;
      if (constant.bytes == 0 && !made_.weights.empty()) {
        places[id] = {made_.weights[0].memory, {}, 0};
        continue;
      }
      if (made_.weights.empty() || end - made_.weights.back().begin > kMostOfBinding)
        made_.weights.push_back({addMemory("WEIGHTS", 0), constant.offset, constant.offset});
      WeightPart& part = made_.weights.back();
      part.end = std::max(part.end, end);
      made_.memories[part.memory].bytes = aligned(part.end - part.begin);
      made_.weightBytes = std::max(made_.weightBytes, end);
      places[id] = {part.memory, {}, constant.offset - part.begin};
    }
    for (BufferId id = 0; id < plan_.buffers.size(); id++)
      if (plan_.buffers[id].place == Place::Constant) made_.buffers[id] = places[plan_.buffers[id].constant];
  }

  const Plan& plan_;
  WebLayout made_;
};

}  // namespace

WebLayout layoutOf(const Plan& plan) { return Placer(plan).place(); }

std::string placeText(const WebPlace& location) {
  if (location.base.empty()) return std::to_string(location.offset);
  return location.base + (location.offset == 0 ? "" : " + " + std::to_string(location.offset));
}

}  // namespace svod::web
