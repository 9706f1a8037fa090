#include "choose/case_loops.h"

#include "cost/cost.h"
#include "cost/parameters.h"

namespace svod {

void expandCases(Chooser& c) {
  int64_t copies = 1;
  for (const Axis& axis : c.facts().axes) {
    std::optional<int64_t> extent = constExtent(axis.range);
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop || !extent ||
        *extent * copies > parameters::kMostCases)
      continue;
    if (selectedWork(c.facts(), axis.range) >= parameters::kWorthCases &&
        c.apply(OptKind::Upcast, idOf(axis.range), 0, "each iteration takes another of the values that all share"))
      copies *= *extent;
  }
}

}  // namespace svod
