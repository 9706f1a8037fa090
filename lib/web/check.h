// What of a plan a page can run (an internal header of the room).
#pragma once
#include "plan/plan.h"
#include "support/result.h"
#include "web/layout.h"

namespace svod::web {

/// Errors: Unsupported, naming the function, kernel or size.
Status checkPlan(const Plan& plan, const WebLayout& layout, std::span<const std::string> kernels);

}  // namespace svod::web
