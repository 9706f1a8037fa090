// Features of a kernel with its opts, the input of the learned correction of the cost model.
#pragma once
#include <array>
#include <cstdint>

#include "cost/kernel_cost.h"
#include "facts/kernel_facts.h"

namespace svod {

/// What a list is described by.
enum class Feature : uint8_t {
  Computing,  // part of the expected time that goes to arithmetic
  Waiting,    // part of it that goes to waiting for additions
  Moving,     // part of it that goes to moving lines
  Copies,     // log2 of the values that upcast makes of one
  Lanes,      // log2 of the lanes of all vectors
  Unrolled,   // log2 of the iterations that are written out
  Buffers,    // local buffers that are filled
  Loops,      // loops that are left
};
inline constexpr size_t kFeatureCount = static_cast<size_t>(Feature::Loops) + 1;
using Features = std::array<double, kFeatureCount>;

/// `kernel`: with its opts, of which the cost model expects `cost`.
Features featuresOf(const KernelFacts& kernel, const KernelCost& cost);

}  // namespace svod
