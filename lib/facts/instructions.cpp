#include "facts/instructions.h"

namespace svod {

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
