// Is a plan consistent? Run at the end of compiling and at every load, before any code runs.
#pragma once
#include <string_view>

#include "plan/plan.h"

namespace svod {

/// The most a size or an offset in a plan may be: sums of two never overflow.
inline constexpr uint64_t kMaxPlanBytes = UINT64_C(1) << 56;

/// Every id, offset, size and path, alignment, variables, dependency order, and that the dependencies cover
/// every read/write hazard, arena reuse included. Errors are Diag::BadPlan, and Diag::PlanPath for a path
/// that could leave the plan directory. What depends on the variables' values is checked when they are known.
Status check(const Plan& plan);

/// A plain file name: not empty, no separator, not "." or "..", no control characters.
bool isPlainFileName(std::string_view name);

}  // namespace svod
