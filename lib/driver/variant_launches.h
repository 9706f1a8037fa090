// What launches run in the place of their kernels, at some sizes or on other processors (an internal header of the
// room).
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

  void addOwn(const Launch& launch) { own_.push_back(launch.buffers); }
  void add(size_t variant, Launch launch) { others_[variant].push_back(std::move(launch)); }

  /// Gives cases the buffers that took the place of those of their launches, and adds where launches of variants differ
  /// from those of the plan. Launches have kept their order since; other buffers than weights may have been exchanged
  /// for those of a device. `weightOf`: what copies of weights hold.
  void finish(Plan& plan, const std::map<BufferId, BufferId>& weightOf);

 private:
  std::span<const PlannedVariant> variants_;
  std::vector<std::vector<BufferId>> own_;   // of the plan's launches, as they were made
  std::vector<std::vector<Launch>> others_;  // by variant, the same
};

}  // namespace svod
