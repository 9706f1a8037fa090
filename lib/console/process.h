// What a program has to settle with the system: its standard streams, the limit on file sizes, Ctrl-C.
#pragma once
#include <functional>
#include <string>

#include "console/console.h"

namespace svod {

/// To be called first. A standard stream that is closed becomes one that fails, or else the next file opened
/// would take its number and receive what is printed. A write over the size limit becomes an error.
void prepareProcess();

/// From construction on, SIGINT, SIGTERM and SIGHUP (those of them that the process was not told to ignore, as nohup
/// does) end the process with the exit code of Diag::Interrupted, after a thread of the guard reported that. One per
/// process, and made before other threads start: they inherit that these signals are not for them. A second signal ends
/// the process at once.
class InterruptGuard {
 public:
  explicit InterruptGuard(Console& console);
  /// One that leaves signals alone: for libraries, whose process belongs to a program.
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;

  /// Puts results in place by `write`, during which interrupts wait. When it succeeds, an interrupt changes nothing any
  /// more: the process ends as it would have without.
  Status place(const std::function<Status()>& write);
  /// To be called, once, before an error is reported. Does not return if an interrupt has arrived: the error may be
  /// its consequence, when a compiler was interrupted as well or the folder is gone.
  void beforeError();
  /// A folder of this process that has to go when it is interrupted.
  void removesFolder(std::string path);
  /// Removes it, and does what alsoDoes() asked for: the process ends in another way.
  void clearAway();
  /// To be done before an interrupt ends the process.
  void alsoDoes(std::function<void()> work);
  /// What is reported in place of "nothing was written": for work of which every part stays.
  void says(std::string message, std::string help);

 private:
  struct State;
  State* state_;
};

}  // namespace svod
