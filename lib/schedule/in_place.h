// Which kernels could write their result over an operand.
#pragma once
#include <vector>

#include "schedule/schedule.h"

namespace svod {

/// Slots of arguments that are read only at the address that is written, element for element; empty for kernels with
/// reductions or several stores.
std::vector<int> overwritableArgs(UOp sink);

/// Sets ScheduleItem::overwrites where a launch outside of loops is the last to use a temporary that has the size of
/// its result, a temporary as well; the memory planner decides. Clears Kernel::inPlace where no launch does.
void offerInPlace(Schedule& schedule);

}  // namespace svod
