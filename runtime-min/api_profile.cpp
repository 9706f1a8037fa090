// The C interface of profiles and traces.
#include "runtime-min/api_error.h"

namespace {

using namespace svod;

/// Steps that a profile lists: all but loops.
bool isListed(const Program& program, StepId step) { return program.steps[step].kind != StepKind::Loop; }

struct StepNames {
  const char *name, *kind;
};
StepNames namesOf(const Instance& instance, StepId step) {
  const Plan& plan = instance.loaded().plan();
  const auto& action = plan.steps[step].action;
  if (const auto* own = std::get_if<Launch>(&action)) {
    const Launch* const taken = instance.run().launched(step);
    return {plan.kernels[(taken != nullptr ? taken : own)->kernel].name.c_str(), "kernel"};
  }
  if (const auto* call = std::get_if<HostCall>(&action)) return {call->function.c_str(), "call"};
  return {"copy", "copy"};
}

}  // namespace

extern "C" {

size_t svod_profile_count(const svod_instance* instance) {
  const InstanceCall call(instance);
  if (!call || !instance->inner->run().profile().on()) return 0;
  const Program& program = instance->inner->loaded().program();
  size_t count = 0;
  for (StepId step = 0; step < program.steps.size(); step++) count += isListed(program, step);
  return count;
}

int svod_profile_get(const svod_instance* instance, size_t index, svod_profile_record* record) {
  const InstanceCall call(instance);
  if (!call || record == nullptr) return 1;
  const Program& program = instance->inner->loaded().program();
  const Profile& profile = instance->inner->run().profile();
  for (StepId step = 0; profile.on() && step < program.steps.size(); step++) {
    if (!isListed(program, step) || index-- > 0) continue;
    const StepNames names = namesOf(*instance->inner, step);
    const Profile::Calls& calls = profile.calls(step);
    *record = {names.name, names.kind, step, calls.count, profile.busy(step), calls.wall, calls.bytes, calls.flops};
    return 0;
  }
  return 1;
}

size_t svod_trace_count(const svod_instance* instance) {
  const InstanceCall call(instance);
  return call ? instance->inner->run().profile().eventCount() : 0;
}

uint64_t svod_trace_dropped(const svod_instance* instance) {
  const InstanceCall call(instance);
  return call ? instance->inner->run().profile().dropped() : 0;
}

int svod_trace_get(const svod_instance* instance, size_t index, svod_trace_event* out) {
  const InstanceCall call(instance);
  if (!call || out == nullptr) return 1;
  const Profile& profile = instance->inner->run().profile();
  if (index >= profile.eventCount()) return 1;
  uint32_t worker = 0;
  const TraceEvent& event = profile.event(index, worker);
  const StepNames names = namesOf(*instance->inner, event.step);
  *out = {names.name, names.kind, event.step, worker, event.start, event.end, event.tileBegin, event.tileEnd};
  return 0;
}

void svod_profile_reset(svod_instance* instance) {
  if (const InstanceCall call(instance); call) instance->inner->run().profile().reset();
}

}  // extern "C"
