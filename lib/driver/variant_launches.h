// What other processors launch in the place of the kernels of a plan (an internal header of the room).
#pragma once
#include <map>
#include <span>
#include <vector>

#include "driver/plan_builder.h"

namespace svod {

/// Launches are added in the order of the steps: that of the plan, and that of each variant.
class VariantLaunches {
 public:
  explicit VariantLaunches(std::span<const PlannedVariant> variants) : variants_(variants), others_(variants.size()) {}

  void addOwn(const Launch& launch) {
    if (!variants_.empty()) own_.push_back(launch);
  }
  void add(size_t variant, Launch launch) { others_[variant].push_back(std::move(launch)); }

  /// Where launches of variants differ from those of the plan. Launches have kept their order since; other buffers
  /// than weights may have been exchanged for those of a device. `weightOf`: what copies of weights hold.
  void addVariants(Plan& plan, const std::map<BufferId, BufferId>& weightOf);

 private:
  std::span<const PlannedVariant> variants_;
  std::vector<Launch> own_;                  // as they were made
  std::vector<std::vector<Launch>> others_;  // by variant, the same
};

}  // namespace svod
