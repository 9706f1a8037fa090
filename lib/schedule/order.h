// The order of producers and loops: every value after what it reads, every overwrite after the readers of the old
// state.
#pragma once
#include <set>

#include "schedule/producer.h"
#include "tensor/loops.h"

namespace svod {

/// The items of all producers in order, taken from these, with the loops they stand in, which are added to `schedule`.
/// `snapshots` are ids of contents of states that are copied before they are overwritten; where more are needed they
/// are added, and the result is nothing. Errors: Cycle.
Result<std::vector<ScheduleItem>> orderItems(const Model& model, const LoopTree& loops,
                                             std::vector<Producer>& producers, Counters& counters, Schedule& schedule,
                                             std::set<uint32_t>& snapshots);

}  // namespace svod
