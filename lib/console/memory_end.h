// A process whose memory ends says so, in whatever thread that is.
#pragma once
#include "console/process.h"

namespace svod {

/// From construction on, an allocation by `new` that fails ends the process with the exit code of Diag::DeviceFailure,
/// after that was reported and the folder of the interrupts was removed. Processes that fork from this one get
/// std::bad_alloc. One per process. Borrows.
class MemoryEnd {
 public:
  /// `help`: what to do about it.
  MemoryEnd(Console& console, InterruptGuard& interrupts, const std::string& help);
  ~MemoryEnd();
  MemoryEnd(const MemoryEnd&) = delete;

  /// For libraries that report the end of memory in their own way. Needs no memory.
  static void reached();

 private:
  struct State;
};

}  // namespace svod
