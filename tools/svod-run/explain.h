// --explain: which of the processors that a plan has code for this machine is taken for, what its devices run, and
// which kernels depend on the sizes of a run.
#pragma once
#include "options.h"

namespace svod {

struct Explanation {
  std::string text;  // a line for each, or an object with --json
  Status devices;    // why the text has none of them: those of opening them
};
/// Loads the plan, makes an instance where it has devices, and runs nothing. Errors: those of loading the plan.
Result<Explanation> explanation(const RunOptions& options);

}  // namespace svod
