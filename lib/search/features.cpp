#include "search/features.h"

#include <algorithm>
#include <cmath>

namespace svod {

namespace {

double log2Of(int64_t n) { return std::log2(static_cast<double>(std::max<int64_t>(n, 1))); }

}  // namespace

Features featuresOf(const KernelFacts& kernel, const KernelCost& cost) {
  Features features = {};
  const auto of = [&](Feature feature) -> double& { return features[static_cast<size_t>(feature)]; };
  of(Feature::Computing) = cost.computing / cost.total;
  of(Feature::Waiting) = cost.waiting / cost.total;
  of(Feature::Moving) = cost.moving / cost.total;
  for (UOp n : kernel.nodes) {
    if (n.op() != Op::Range) continue;
    switch (axisType(n)) {
      case AxisType::Upcast: of(Feature::Copies) += log2Of(maxExtent(n)); break;
      case AxisType::Unroll: of(Feature::Unrolled) += log2Of(maxExtent(n)); break;
      case AxisType::Loop:
      case AxisType::Reduce:
      case AxisType::Thread: of(Feature::Loops) += maxExtent(n) > 1 ? 1 : 0; break;
      default: break;
    }
  }
  for (const Lanes& lanes : kernel.lanes) of(Feature::Lanes) += log2Of(lanes.width);
  of(Feature::Buffers) = static_cast<double>(kernel.fills.size());
  return features;
}

}  // namespace svod
