// Kernels for the values of a graph that fusion keeps, in order.
#pragma once
#include "schedule/fuse.h"
#include "schedule/schedule.h"

namespace svod {

/// The schedule of the graph below `sink`: storage for its values (storage_map.h), the items that make them
/// (produce.h), and their order (order.h). Errors: Cycle.
Result<Schedule> scheduleOf(Model& model, UOp sink, const Fusion& fusion);

}  // namespace svod
