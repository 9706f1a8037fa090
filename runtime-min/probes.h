// Copies of intermediate buffers that a run takes for somebody who looks into it. A value is taken whenever a step has
// written the buffer, before any other step can write over its place: so such runs go in plan order, on one thread.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace svod {

/// An intermediate buffer lies in an arena, itself or as a view.
bool isIntermediate(const Plan& plan, BufferId buffer);

struct Probe {
  BufferId buffer = 0;
  void* to = nullptr;
  uint64_t room = 0;           // at `to`
  const void* from = nullptr;  // where this run has it, as the next
  uint64_t bytes = 0;
  std::vector<uint8_t> isWrittenBy;  // by StepId
  uint64_t count = 0;                // copies in the last run
};

class Probes {
 public:
  /// A `to` of null ends the copies of that buffer. Allocates.
  void set(const Plan& plan, BufferId buffer, void* to, uint64_t room);
  /// Before a run: `pointers` and `sizes` by BufferId.
  void place(std::span<void* const> pointers, std::span<const uint64_t> sizes);
  bool any() const { return !probes_.empty(); }
  void begin();
  std::vector<Probe>& all() { return probes_; }
  uint64_t count(BufferId buffer) const;

 private:
  std::vector<Probe> probes_;
};

}  // namespace svod
