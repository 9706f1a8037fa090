// Threads that go on when all of them have come (an internal header of the grid).
#pragma once
#include <cstring>

#include "cuda_grid/grid.h"

namespace svod {

template <class Last>
void EmulatedGrid::meet(Meeting& meeting, size_t size, const char* what, Part part, Last last) {
  if (meeting.parts.empty()) meeting.what = what;
  if (std::strcmp(meeting.what, what) != 0)
    fault("DIVERGENCE: a thread is at " + std::string(what) + " and another one at " + meeting.what);
  meeting.parts.push_back(part);
  moved_ = true;
  const uint32_t generation = meeting.generation;
  if (meeting.parts.size() == size) {
    const std::vector<Part> parts = std::move(meeting.parts);
    meeting.parts.clear(), ++meeting.generation;
    last(parts);
    return;
  }
  current_->waitsAt = what;
  while (meeting.generation == generation) current_->fiber.suspend();
}

/// Of the lanes of a warp, in their order; without `isWhole` the last warp may have fewer.
template <class Last>
void EmulatedGrid::meetWarp(const char* what, Part part, bool isWhole, Last last) {
  constexpr size_t kLanes = 32;
  const size_t warp = part.thread->number / kLanes, size = std::min(kLanes, threads_.size() - warp * kLanes);
  if (isWhole && size != kLanes) fault("DIVERGENCE: " + std::string(what) + " of a warp that is not whole");
  meet(warps_[warp], size, what, part, [&](std::vector<Part> parts) {
    std::ranges::sort(parts, {}, [](const Part& p) { return p.thread->number; });
    last(std::span<const Part>(parts));
  });
}

}  // namespace svod
