#include "runtime-min/probes.h"

#include <algorithm>

namespace svod {

namespace {

BufferId baseOf(const Plan& plan, BufferId buffer) {
  return plan.buffers[buffer].place == Place::View ? plan.buffers[buffer].base : buffer;
}

/// A step that writes a view writes its base and the other views of that.
bool doesWrite(const Plan& plan, const Step& step, BufferId base) {
  if (const auto* copy = std::get_if<Copy>(&step.action)) return baseOf(plan, copy->dst) == base;
  if (const auto* call = std::get_if<HostCall>(&step.action))
    return std::ranges::any_of(
        call->args, [&](const HostArg& arg) { return writes(arg.mode) && baseOf(plan, arg.buffer) == base; });
  const auto* launch = std::get_if<Launch>(&step.action);
  for (size_t i = 0; launch != nullptr && i < launch->buffers.size(); i++)
    if (writes(plan.kernels[launch->kernel].args[i].mode) && baseOf(plan, launch->buffers[i]) == base) return true;
  return false;
}

}  // namespace

bool isIntermediate(const Plan& plan, BufferId buffer) {
  return plan.buffers[baseOf(plan, buffer)].place == Place::Arena;
}

void Probes::set(const Plan& plan, BufferId buffer, void* to, uint64_t room) {
  std::erase_if(probes_, [&](const Probe& probe) { return probe.buffer == buffer; });
  if (to == nullptr) return;
  Probe& probe = probes_.emplace_back(Probe{buffer, to, room, nullptr, 0, std::vector<uint8_t>(plan.steps.size()), 0});
  for (StepId step = 0; step < plan.steps.size(); step++)
    probe.isWrittenBy[step] = doesWrite(plan, plan.steps[step], baseOf(plan, buffer));
}

void Probes::place(std::span<void* const> pointers, std::span<const uint64_t> sizes) {
  for (Probe& probe : probes_) {
    probe.from = pointers[probe.buffer];
    probe.bytes = std::min(probe.room, sizes[probe.buffer]);
  }
}

void Probes::begin() {
  for (Probe& probe : probes_) probe.count = 0;
}

uint64_t Probes::count(BufferId buffer) const {
  const auto probe = std::ranges::find(probes_, buffer, &Probe::buffer);
  return probe == probes_.end() ? 0 : probe->count;
}

}  // namespace svod
