#include "runtime-min/api_error.h"
#include "support/says.h"

namespace svod {

Status checkIndex(size_t index, size_t count, const char* what) {
  if (index < count) return {};
  return fail(Diag::UnknownPort, says({"there is no ", what, " ", index, ": the plan has ", count}));
}

Status checkPort(const LoadedPlan& loaded, svod_kind kind, size_t index) {
  constexpr const char* kWords[] = {"input", "output", "state", "variable", "intermediate"};
  const size_t count = kind == SVOD_VARIABLE ? loaded.variables().size() : loaded.views(kind).size();
  if (index != SVOD_NONE) return checkIndex(index, count, kWords[kind]);
  return fail(Diag::UnknownPort, says({"there is no such ", kWords[kind], ": svod_plan_find found none of this name"}),
              says({"the plan has ", count, " of them, which svod_plan_tensor and svod_plan_variable tell"}));
}

Status checkPointer(const void* pointer, const char* what) { return checkArray(pointer, 1, what); }

Status checkArray(const void* pointer, size_t count, const char* what) {
  if (pointer != nullptr || count == 0) return {};
  return fail(Diag::Usage, says({what, " is a null pointer"}), "svod/runtime.h says which pointers may be NULL");
}

InstanceCall::Refused InstanceCall::enter() {
  if (instance_ == nullptr) return Refused::Null;
  const uint32_t here = thisProcess();
  uint32_t seen = 0;
  // One of another process was left by a thread that is in the parent alone.
  while (!instance_->inside.compare_exchange_weak(seen, here, std::memory_order_acquire))
    if (seen == here) return Refused::Busy;
  hasEntered_ = true;
  if (!instance_->inner->submission().isIdle()) return Refused::Submitted;
  return instance_->process != here && instance_->ownsDevices() ? Refused::Forked : Refused::No;
}

int InstanceCall::report(svod_error* to) const {
  switch (refused_) {
    case Refused::Busy:
      return fillError(to, Diag::Usage,
                       "the instance is in use: another thread, or a function that it calls, uses it as well",
                       "an instance is for one thread at a time: make one for each, or take turns");
    case Refused::Submitted:
      return fillError(to, Diag::Usage, "the instance has a submitted run",
                       "call svod_wait first, or use another instance");
    case Refused::Forked:
      return fillError(to, Diag::DeviceFailure,
                       "the instance has devices, which stay with the process that opened them",
                       "create the instance after the fork");
    default: return fillError(to, Diag::Usage, "the instance is a null pointer", "svod_instance_create makes one");
  }
}

[[gnu::noinline]] int guardBody(svod_error* error, Body call, void* body) noexcept {
  const Status status = call(body, nullptr);
  return status ? 0 : report(status.error(), error);
}

[[gnu::noinline]] int guardInstanceBody(svod_instance* instance, svod_error* error, Body call, void* body) noexcept {
  const InstanceCall entered(instance);
  if (!entered) return entered.report(error);
  const Status status = call(body, instance->inner.get());
  return status ? 0 : report(status.error(), error);
}

}  // namespace svod
