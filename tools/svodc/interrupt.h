// Ctrl-C: what was begun is removed, and the program ends with the exit code of Diag::Interrupted.
#pragma once
#include <mutex>
#include <string>

#include "support/result.h"

namespace svod {

/// From construction on SIGINT and SIGTERM end the process after deleting `directory`. One per process.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::string directory);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;

  /// While held, an interrupt waits: for the moment in which a result is put in place.
  std::unique_lock<std::mutex> hold();

 private:
  struct State;
  State* state_;
};

}  // namespace svod
