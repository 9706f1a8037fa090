// Arenas that are laid out for the sizes of every run (RunPlace in plan/plan.h).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace svod {

/// The units of all these arenas of a plan, one arena after the other. Is given the same plan each time.
class ArenaUnits {
 public:
  ArenaUnits() = default;
  /// Buffers that have no units yet have no place.
  explicit ArenaUnits(const Plan& plan);

  /// Whether the arena is laid out for every run; else its buffers have fixed offsets.
  bool has(DeviceId device, MemorySpace space) const { return beginOf(device, space) < endOf(device, space); }
  /// Makes each unit as long as its buffers need, where they take `bytes` (by BufferId), each below 2^62. Allocates
  /// nothing.
  void layOut(const Plan& plan, std::span<const uint64_t> bytes);
  /// What all of an arena takes after layOut(): 2^62 where that is more, 0 where it is not laid out for every run.
  uint64_t bytesOf(DeviceId device, MemorySpace space) const {
    return has(device, space) ? begins_[endOf(device, space) - 1] : 0;
  }
  /// Where a buffer with a RunPlace begins in its arena, after layOut().
  uint64_t offsetOf(const BufferDesc& buffer) const {
    return begins_[beginOf(buffer.device, buffer.space) + buffer.run->begin];
  }

 private:
  static size_t rowOf(DeviceId device, MemorySpace space) {
    return 2 * size_t{device} + (space == MemorySpace::Shared ? 1 : 0);
  }
  uint32_t beginOf(DeviceId device, MemorySpace space) const { return rows_[rowOf(device, space)]; }
  uint32_t endOf(DeviceId device, MemorySpace space) const { return rows_[rowOf(device, space) + 1]; }

  std::vector<uint32_t> rows_;    // by arena: where its units begin here, and the end of the last; each has one more
  std::vector<uint32_t> lastIn_;  // by unit: 1 + the buffer that ends in front of it, or 0
  std::vector<uint32_t> before_;  // by BufferId: 1 + another one that ends there, or 0
  std::vector<uint64_t> begins_;  // of units, in bytes
};

/// What a buffer takes of an arena in a run with these values of variables; nothing where that is no size or above
/// BufferDesc::bytes.
std::optional<uint64_t> bytesInRun(const BufferDesc& buffer, std::span<const int64_t> values);

}  // namespace svod
