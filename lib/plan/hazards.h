// The orders that shared bytes force on steps: read after write, write after read, write after write.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "plan/reachability.h"

namespace svod {

/// A step touches the bytes [begin, end) of a storage (an arena, or one piece of external memory).
struct BufferAccess {
  uint32_t storage = 0;
  uint64_t begin = 0, end = 0;
  Mode mode = Mode::Read;
  /// Above 0: the range is that of units of an arena, and this the buffer in them (1 + its index). Users of one buffer
  /// are ordered by their other accesses, and are all done before the next buffer there is touched.
  uint32_t tenant = 0;
};

/// For steps in program order, the pairs (earlier, later) that must not change order. Implied pairs may be
/// missing. A step that reads and writes the same bytes reads first and gets no pair with itself.
std::vector<std::pair<uint32_t, uint32_t>> hazardPairs(std::span<const std::vector<BufferAccess>> steps);

/// How buffers become storages: by their place once the arena is laid out, or each arena buffer on its own
/// before.
enum class StorageView : uint8_t { Placed, Separate };

/// What the step of this index touches; a Loop touches what its body does. Constants are left out. A view
/// counts as its base's bytes. A buffer in units of an arena is touched as bytes of its own and as their tenant.
/// Storage 0 is the host's arena, those of other devices have numbers above all buffers (Placed); others are 1 + the
/// index of the buffer that owns the bytes.
std::vector<BufferAccess> accessesOf(const Plan& plan, StepId step, StorageView view);

/// The steps of one body (or of the whole plan) in order; a nested loop counts as one step.
struct Scope {
  std::vector<StepId> steps;
  DepLists deps;  // as positions in `steps`
};
/// The plan's scope first, then the loops' in step order. The deps must have passed `check`'s index rules.
std::vector<Scope> scopesOf(const Plan& plan);

/// Adds every hazard to the deps of `plan`, then drops implied ones.
void addHazardEdges(Plan& plan, StorageView view);

/// An error that names two steps and a buffer when the deps leave a hazard open.
Status checkHazards(const Plan& plan);

}  // namespace svod
