// What a program has to settle with the system: its standard streams, the limit on file sizes, Ctrl-C.
#pragma once
#include <mutex>
#include <string>

#include "console/console.h"

namespace svod {

/// To be called first. A standard stream that is closed becomes one that fails, or else the next file opened
/// would take its number and receive what is printed. A write over the size limit becomes an error.
void prepareProcess();

/// From construction on, SIGINT and SIGTERM end the process with the exit code of Diag::Interrupted, after a
/// thread of the guard reported that. One per process, and made before other threads start: they inherit that
/// these signals are not for them. A second signal ends the process at once.
class InterruptGuard {
 public:
  explicit InterruptGuard(Console& console);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;

  /// While held, an interrupt waits: for the moment in which results are put in place.
  std::unique_lock<std::mutex> hold();
  /// To be called, once, before an error is reported. Does not return if an interrupt has arrived: the error may be
  /// its consequence, when a compiler was interrupted as well or the folder is gone.
  void beforeError();
  /// A folder of this process that has to go when it is interrupted.
  void removesFolder(std::string path);

 private:
  struct State;
  State* state_;
};

}  // namespace svod
