#include "search/features.h"

#include <algorithm>
#include <cmath>

namespace svod {

namespace {

constexpr FeatureInfo kFeatures[] = {
    {"computing", "part of the expected time that goes to arithmetic"},
    {"waiting", "part of it that goes to waiting for additions"},
    {"moving", "part of it that goes to moving lines"},
    {"copies", "log2 of the values that upcast makes of one"},
    {"lanes", "log2 of the lanes of all vectors"},
    {"unrolled", "log2 of the iterations that are written out"},
    {"buffers", "local buffers that are filled"},
    {"loops", "loops that are left"},
};
static_assert(std::size(kFeatures) == kFeatureCount);

double log2Of(int64_t n) { return std::log2(static_cast<double>(std::max<int64_t>(n, 1))); }

}  // namespace

std::span<const FeatureInfo, kFeatureCount> allFeatures() { return kFeatures; }

Features featuresOf(const KernelFacts& kernel, const KernelCost& cost) {
  Features f = {cost.computing / cost.total, cost.waiting / cost.total, cost.moving / cost.total};
  for (UOp n : kernel.nodes) {
    if (n.op() != Op::Range) continue;
    switch (axisType(n)) {
      case AxisType::Upcast: f[3] += log2Of(maxExtent(n)); break;
      case AxisType::Unroll: f[5] += log2Of(maxExtent(n)); break;
      case AxisType::Loop:
      case AxisType::Reduce:
      case AxisType::Thread: f[7] += maxExtent(n) > 1 ? 1 : 0; break;
      default: break;
    }
  }
  for (const Lanes& lanes : kernel.lanes) f[4] += log2Of(lanes.width);
  f[6] = static_cast<double>(kernel.fills.size());
  return f;
}

double instructionsOf(const KernelFacts& kernel) {
  double all = 0;
  for (UOp n : kernel.nodes) {
    double copies = 1;
    for (UOp r : n.ranges())
      if (const AxisType type = axisType(r); type == AxisType::Upcast || type == AxisType::Unroll)
        copies *= static_cast<double>(maxExtent(r));
    all += copies;
  }
  return all;
}

}  // namespace svod
