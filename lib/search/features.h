// What a kernel with its opts looks like to the correction of the cost model.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "cost/kernel_cost.h"
#include "facts/kernel_facts.h"

namespace svod {

struct FeatureInfo {
  std::string_view name, what;
};

inline constexpr size_t kFeatureCount = 8;
using Features = std::array<double, kFeatureCount>;

/// Their names, in the order of Features.
std::span<const FeatureInfo, kFeatureCount> allFeatures();

/// `kernel`: with its opts, of which the cost model expects `cost`.
Features featuresOf(const KernelFacts& kernel, const KernelCost& cost);

/// About as many instructions as it is lowered to: every node once for each value that opts make of it.
double instructionsOf(const KernelFacts& kernel);

}  // namespace svod
