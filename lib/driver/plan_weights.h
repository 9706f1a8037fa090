// Weights as the kernels of a plan read them: each in the orders that its readers want.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "driver/place_devices.h"
#include "driver/plan_builder.h"
#include "plan/directory.h"

namespace svod {

/// Borrows everything; what stands in another order is added to `constants`.
class PlanWeights {
 public:
  PlanWeights(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
              const PlanOptions& options, WeightsLayout& layout, std::deque<LargeBytes>& constants);

  /// Whether some step, on some processor, reads this buffer of the schedule as it is; and in any order.
  bool isPlain(size_t buffer) const { return isPlain_[buffer]; }
  bool isRead(size_t buffer) const { return isPlain_[buffer] || isReordered_[buffer]; }

  /// The buffer that a launch of `kernel` reads at `slot`, one more of `buffers` where its order is new. The first
  /// order takes the place of a weight that nobody reads as it is.
  BufferId bufferFor(const ScheduleItem& launch, KernelId kernel, size_t slot, Rows<BufferDesc>& buffers);
  /// Which buffers hold weights (weight_copies.h), and the copies that bufferFor() gave a buffer in place of.
  WeightCopies copies() const;

 private:
  const ConstantLayout* orderOf(KernelId kernel, size_t slot) const;

  struct Reordered {
    BufferId weight, argument;  // itself or a copy of it
    const ConstantLayout* order;
    BufferId buffer;
  };
  const Model& model_;
  std::span<const PlannedKernel> kernels_;
  WeightsLayout& layout_;
  std::deque<LargeBytes>& constants_;
  std::vector<int> held_;                    // by buffer of the schedule: the weight that it holds, or -1
  std::vector<bool> isPlain_, isReordered_;  // by buffer of the schedule
  std::vector<Reordered> reordered_;
};

}  // namespace svod
