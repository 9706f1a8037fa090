// Launches whose kernel depends on the sizes of a run, for --explain.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace svod {

struct SizedKernel {
  std::string kernel, when;  // "n >= 2 and s%16 = 0"; empty for the kernel of all other sizes, the last
};

/// One launch with cases (docs/plan.md).
struct SizedLaunch {
  uint64_t step = 0;
  std::vector<SizedKernel> kernels;  // in the order in which they are asked
  std::optional<size_t> taken;       // the kernel that runs; nothing where it depends on a size that is not known
};

/// Those of the plan as it is for its processor with this number (svod_plan_processor). `sizes` are variables with
/// their values in a run. Errors: those of reading the plan.
Result<std::vector<SizedLaunch>> sizedLaunches(const std::string& plan, size_t processor,
                                               const std::vector<std::pair<std::string, int64_t>>& sizes);

std::string toText(const std::vector<SizedLaunch>& launches);
nlohmann::ordered_json toJson(const std::vector<SizedLaunch>& launches);

}  // namespace svod
