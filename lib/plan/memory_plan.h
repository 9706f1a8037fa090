// Where the intermediate buffers of a plan lie in the arena.
//
// Two buffers may share bytes when every user of one finishes before any writer of the other starts, on every
// schedule the dependencies allow: then nothing has to wait for the reuse. Only when that arena exceeds a
// budget are buffers packed by program order instead, and the missing orders become dependencies.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plan/hazards.h"
#include "plan/plan.h"
#include "plan/reachability.h"

namespace svod {

enum class MemoryMode : uint8_t {
  Arena,  // "arena": any gap large enough, best fit first
  Remap,  // "remap": a buffer takes over the whole place of another one of about its size
  Off,    // "off": no sharing
};
/// "arena", "remap", "off".
std::string_view nameOf(MemoryMode mode);
std::optional<MemoryMode> memoryModeFromName(std::string_view name);

/// Like InPlace, of a problem's buffers.
struct PlacePair {
  uint32_t source = 0, result = 0;
  bool operator==(const PlacePair&) const = default;
};

struct MemoryProblem {
  std::vector<std::vector<BufferAccess>> steps;  // in program order; BufferAccess::storage is an index into sizes
  DepLists deps;                                 // every hazard between the separate buffers included
  std::vector<uint64_t> sizes;                   // bytes; only buffers that are to be placed
  /// `result` may lie exactly on `source`: the step that writes `result` reads each element of `source` before it
  /// writes the same position. Done where nobody needs `source` afterwards.
  std::vector<PlacePair> inPlace;
  uint64_t budgetBytes = UINT64_MAX;
};

struct MemoryLayout {
  std::vector<uint64_t> offsets;                          // by buffer; multiples of kPlanAlignment
  std::vector<std::pair<uint32_t, uint32_t>> addedEdges;  // (first, then), in order
  std::vector<PlacePair> inPlace;                         // those that were used, by result
  MemoryReport report;                                    // without inPlace
};

/// Deterministic: equal problems give equal layouts. The lower bound is the most bytes in use at one step.
MemoryLayout placeBuffers(const MemoryProblem& problem, MemoryMode mode);

struct MemoryOptions {
  MemoryMode mode = MemoryMode::Arena;
  uint64_t budgetBytes = UINT64_MAX;  // when the arena would be larger, trade parallelism for memory
  std::vector<InPlace> inPlace;       // what may be done, not what must
};

/// Gives every Arena buffer of `plan` its offset in the arena of its device, sets the sizes of the arenas and the
/// memory report, of all of them together, and makes the dependencies complete: true ones, hazards and reuse, without
/// implied ones. Call once, with data dependencies or none set.
void planMemory(Plan& plan, const MemoryOptions& options);

}  // namespace svod
