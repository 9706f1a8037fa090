// The context of a device, current on this thread for a scope: the caller's own is current again afterwards.
#pragma once
#include "runtime-cuda/driver.h"

namespace svod::cuda {

class Current {
 public:
  Current(const Driver& driver, Context context) : driver_(driver), code_(driver.cuCtxPushCurrent(context)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    Context popped = nullptr;
    if (code_ == kSuccess) (void)driver_.cuCtxPopCurrent(&popped);
  }
  /// Whether it is current.
  Code code() const { return code_; }

 private:
  const Driver& driver_;
  Code code_;
};

}  // namespace svod::cuda
