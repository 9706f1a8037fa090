// A tuning log as a compile takes it: winners that apply to their kernels.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuning/winners.h"

namespace svod {

struct AppliedLog {
  /// A winner that is passed over.
  struct Passed {
    Winner winner;
    std::string reason;
  };
  TuningLog log;
  std::vector<Passed> passed;
};

/// Of each kernel and target the winners are tried, best first, until one applies. Those before it are no winners in
/// `log`: there they failed, with the reason. Where the log does not have the kernel, or has it for a target that this
/// svodc does not know, its winners stay.
AppliedLog appliedLog(TuningLog log, std::string_view compiler);

}  // namespace svod
