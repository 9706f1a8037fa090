#include "run_gaps.h"

#include <algorithm>
#include <utility>

namespace svod {

void RunGaps::add(const svod_instance* instance, uint64_t begin, uint64_t end) {
  std::vector<std::pair<uint64_t, uint64_t>> busy;
  svod_trace_event event = {};
  size_t kept = 0;  // events of this thread before the one that is looked at
  uint32_t thread = UINT32_MAX;
  uint64_t oldest = 0;
  // Where a thread keeps as many as it can, and all are of this run, the first ones of the run may be gone.
  const auto leaveThread = [&] { isComplete_ = isComplete_ && (kept < events_ || oldest < begin); };
  for (size_t i = 0; svod_trace_get(instance, i, &event) == 0; i++, kept++) {
    if (event.thread != thread) {
      leaveThread();
      thread = event.thread, kept = 0, oldest = event.start_ns;
    }
    if (event.start_ns >= begin && event.end_ns <= end) busy.emplace_back(event.start_ns, event.end_ns);
  }
  leaveThread();
  std::sort(busy.begin(), busy.end());
  uint64_t gaps = 0, reach = begin;
  for (const auto& [from, to] : busy) {
    if (from > reach) gaps += from - reach;
    reach = std::max(reach, to);
  }
  runs_.push_back(gaps + (end > reach ? end - reach : 0));
}

std::vector<uint64_t> RunGaps::sorted() const {
  if (!isComplete_) return {};
  std::vector<uint64_t> times = runs_;
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace svod
