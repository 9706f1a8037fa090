#include "choose/case_loops.h"

#include <algorithm>

#include "cost/cost.h"
#include "cost/parameters.h"

namespace svod {

namespace {

// Arithmetic that every iteration of `range` does although it uses the result in some only.
double selectedWork(const KernelFacts& kernel, UOp range) {
  std::vector<UOp> choices;
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Where && caseCounter(n.src(0)) == range) choices.insert(choices.end(), {n.src(1), n.src(2)});
  double work = 0;
  for (UOp n : toposort(choices))
    if (n.op() != Op::Load && n.op() != Op::Where && !n.dependsOn(range)) work += opWeight(n);
  return work;
}

}  // namespace

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
