// Contiguous parts of buffers that are used where they lie.
#pragma once
#include "ir/model.h"
#include "schedule/schedule.h"

namespace svod {

/// A temporary that a launch fills with a contiguous part of another buffer becomes a view of that, and the launch goes
/// away: what host functions, transfers and `contiguous` ask for as a whole. Where the launch stands outside of loops
/// and nothing writes to the other buffer after it. Parts of weights are copied: kernels have weights in orders of
/// their own. A part begins at a multiple of `alignment` bytes.
void useViews(const Model& model, Schedule& schedule, int64_t alignment);

}  // namespace svod
