// How functions of the C interface begin and end: what they were given is checked, and a Status becomes an exit code.
#pragma once
#include "runtime-min/handles.h"
#include "runtime-min/report_error.h"

namespace svod {

Status checkIndex(size_t index, size_t count, const char* what);
/// The same of what has names in a plan, which are told.
Status checkPort(const LoadedPlan& loaded, svod_kind kind, size_t index);
/// `what` is for people.
Status checkPointer(const void* pointer, const char* what);
/// `count` elements can be there.
Status checkArray(const void* pointer, size_t count, const char* what);

/// One call for an instance, which belongs to it from here to the end of the scope. A thread that a forked child does
/// not have is in no call there.
class InstanceCall {
 public:
  /// Errors: Usage for a null pointer, another call on any thread, or a submitted run; DeviceFailure in a forked child
  /// where the instance has devices.
  explicit InstanceCall(const svod_instance* instance) : instance_(instance), refused_(enter()) {}
  ~InstanceCall() {
    if (hasEntered_) instance_->inside.store(0, std::memory_order_release);
  }
  InstanceCall(const InstanceCall&) = delete;
  InstanceCall& operator=(const InstanceCall&) = delete;
  explicit operator bool() const { return refused_ == Refused::No; }
  int report(svod_error* to) const;

 private:
  enum class Refused : uint8_t { No, Null, Busy, Submitted, Forked };
  Refused enter();

  const svod_instance* instance_;
  bool hasEntered_ = false;
  Refused refused_;
};

/// A function of the C interface without its types, so that one of these begins and ends all of them.
using Body = Status (*)(void* body, Instance* instance);
int guardBody(svod_error* error, Body call, void* body) noexcept;
int guardInstanceBody(svod_instance* instance, svod_error* error, Body call, void* body) noexcept;

/// Runs `body`, which returns a Status.
template <class Lambda>
int guard(svod_error* error, Lambda body) noexcept {
  return guardBody(error, [](void* lambda, Instance*) -> Status { return (*static_cast<Lambda*>(lambda))(); }, &body);
}

/// The same for an instance that nobody else is using: `body` gets its Instance.
template <class Lambda>
int guardInstance(svod_instance* instance, svod_error* error, Lambda body) noexcept {
  return guardInstanceBody(
      instance, error, [](void* lambda, Instance* inner) -> Status { return (*static_cast<Lambda*>(lambda))(*inner); },
      &body);
}

}  // namespace svod
