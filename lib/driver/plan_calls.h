// What functions of the program are given by a plan (an internal header of the room).
#pragma once
#include <vector>

#include "driver/plan_variables.h"

namespace svod {

/// A call of a function that the program lends.
Result<HostCall> hostCallOf(const ScheduleItem& item, const PlanVariables& variables);

/// What a function of a C file is given besides its arrays: its numbers, and how many elements each array has.
Result<std::vector<Expr>> functionValues(const ScheduleItem& item, const PlanVariables& variables);

}  // namespace svod
