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

/// Gives every Arena buffer of `plan` its place in the arena of its device, sets the sizes of the arenas and the
/// memory report, of all of them together, and makes the dependencies complete: true ones, hazards and reuse, without
/// implied ones. Call once, with data dependencies or none set. An arena with a buffer that has a RunPlace, of which
/// only `bytes` is read, is laid out for every run: like the layout that is best for the least, the likely and the
/// greatest sizes, whichever loses least at the others. Its report is that of the likely sizes.
void planMemory(Plan& plan, const MemoryOptions& options);

/// Of all variables, which arenas are laid out for: their own ones, or the least where none is known; 0 for those of
/// loops.
std::vector<int64_t> likelyValues(const Plan& plan);

/// Where a buffer of an arena lies at some values of the variables, and how much of it is used.
struct BufferSpan {
  uint64_t offset = 0, bytes = 0;
};
/// By BufferId; other buffers have none.
std::vector<BufferSpan> spansAt(const Plan& plan, std::span<const int64_t> values);

}  // namespace svod
