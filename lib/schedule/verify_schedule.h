// What every schedule keeps to.
#pragma once
#include "schedule/schedule.h"

namespace svod {

/// Every kernel is a legal graph of stage Kernel, every launch has an argument for each of its parameters, bodies of
/// loops nest, and a temporary is written before it is read. The error names the item and what is wrong.
Status verifySchedule(const Schedule& schedule);

}  // namespace svod
