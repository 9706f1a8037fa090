#include "runtime-min/port_copies.h"

#include <algorithm>

namespace svod {

namespace {

struct Writers {
  uint32_t count = 0;
  StepId last = {};
};

/// By BufferId, with those of views at what they are views of.
std::vector<Writers> writersOf(const Plan& plan) {
  std::vector<Writers> writers(plan.buffers.size());
  for (StepId step = 0; step < plan.steps.size(); step++) {
    const auto add = [&](BufferId id) {
      Writers& of = writers[plan.buffers[id].place == Place::View ? plan.buffers[id].base : id];
      of.count++, of.last = step;
    };
    const auto& action = plan.steps[step].action;
    if (const auto* launch = std::get_if<Launch>(&action)) {
      for (size_t i = 0; i < launch->buffers.size(); i++)
        if (writes(plan.kernels[launch->kernel].args[i].mode)) add(launch->buffers[i]);
    } else if (const auto* copy = std::get_if<Copy>(&action)) {
      add(copy->dst);
    } else if (const auto* call = std::get_if<HostCall>(&action)) {
      for (const HostArg& arg : call->args)
        if (writes(arg.mode)) add(arg.buffer);
    }
  }
  return writers;
}

}  // namespace

std::vector<PortCopy> findPortCopies(const Plan& plan) {
  std::vector<PortCopy> found;
  if (plan.devices.size() == 1 || plan.memory.mode == "remap") return found;  // a buffer is several values there
  const std::vector<Writers> writers = writersOf(plan);
  for (StepId step = 0; step < plan.steps.size(); step++) {
    const auto& action = plan.steps[step].action;
    if (const auto* loop = std::get_if<Loop>(&action)) step += loop->length;
    const auto* copy = std::get_if<Copy>(&action);
    if (copy == nullptr) continue;
    const bool isIn = plan.buffers[copy->src].place == Place::Input;
    const BufferId port = isIn ? copy->src : copy->dst, buffer = isIn ? copy->dst : copy->src;
    const bool isPort = isIn || plan.buffers[port].place == Place::Output;
    if (!isPort || plan.buffers[buffer].place != Place::Arena || plan.buffers[buffer].device == 0) continue;
    const bool isOnly = writers[copy->dst].count == 1 && (isIn || writers[buffer].last < step);
    const auto isSame = [&](const PortCopy& other) { return other.buffer == buffer; };
    if (isOnly && std::ranges::none_of(found, isSame)) found.push_back({port, buffer, nullptr});
  }
  return found;
}

}  // namespace svod
