// Runtime overhead: the time of runs in which no step was at work: what the runtime itself takes, and waiting.
#pragma once
#include <cstdint>
#include <vector>

#include "svod/runtime.h"

namespace svod {

class RunGaps {
 public:
  /// `events`: how many a thread of the instance keeps.
  explicit RunGaps(size_t events) : events_(events) {}

  /// After a run that began and ended at these times of the monotonic clock.
  void add(const svod_instance* instance, uint64_t begin, uint64_t end);
  /// Of each run, in nanoseconds; nothing where a run had more pieces of work than a thread keeps.
  std::vector<uint64_t> sorted() const;

 private:
  size_t events_;
  bool isComplete_ = true;
  std::vector<uint64_t> runs_;
};

}  // namespace svod
