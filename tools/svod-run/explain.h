// --explain: which of the processors that a plan has code for this machine is taken for, and what its devices run.
#pragma once
#include "options.h"

namespace svod {

/// A line for each, or an object with --json. Loads the plan and runs nothing. Errors: those of loading it.
Result<std::string> explanation(const RunOptions& options);

}  // namespace svod
