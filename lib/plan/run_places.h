// Places of buffers in an arena that is laid out for the sizes of every run (an internal header of the room).
#pragma once
#include "plan/memory_plan.h"

namespace svod {

/// Gives the buffers `placed`, of one arena, their RunPlaces, and the arena its size. `problem` is theirs, by position
/// in `placed`. Returns the layout for the likely sizes that comes of it.
MemoryLayout planRuns(Plan& plan, DeviceId device, MemorySpace space, MemoryProblem problem,
                      std::span<const BufferId> placed, MemoryMode mode);

}  // namespace svod
