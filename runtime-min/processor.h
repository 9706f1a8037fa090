// Which of the processors that a plan has code for this machine is.
#pragma once
#include <string>
#include <vector>

#include "plan/variants.h"
#include "support/result.h"

namespace svod {

/// One of the plan's, as the C interface shows it.
struct ProcessorView {
  std::string name, features, missing;  // words with blanks between; `missing` is what this machine lacks
};

struct ProcessorChoice {
  std::vector<ProcessorView> views;  // in the order of processorsOf()
  size_t used = 0;
};

/// The best for this machine, or the one called `asked`, if that is not null. Errors: CpuFeatures for another
/// architecture or system, and where this machine lacks something of each, or of the one that is asked for.
Result<ProcessorChoice> chooseProcessor(const Plan& plan, const char* asked);

/// All of them, where no code of the plan runs.
ProcessorChoice withoutChoice(const Plan& plan);

}  // namespace svod
