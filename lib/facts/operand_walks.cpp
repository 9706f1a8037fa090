#include "facts/operand_walks.h"

#include <algorithm>

namespace svod {

namespace {

bool isLoop(UOp r) { return !isExpanded(axisType(r)); }

}  // namespace

bool isVector(const KernelFacts& kernel, const Access& load) {
  return std::ranges::any_of(kernel.lanes, [&](const Lanes& l) { return strideOf(load, l.range) == 1; });
}

UOp nextLoop(const Access& load, int64_t least) {
  UOp best;
  for (UOp r : load.node.src(0).ranges()) {
    const int64_t stride = strideOf(load, r).value_or(0);
    if (isLoop(r) && stride >= least && (!best || stride < *strideOf(load, best))) best = r;
  }
  return best;
}

int64_t runOf(const Access& load) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, number of them
  for (UOp r : load.node.src(0).ranges())
    if (const std::optional<Pace> pace = isLoop(r) ? std::nullopt : paceOf(load, r); pace && pace->first > 0)
      steps.emplace_back(pace->first, maxExtent(r) - 1);
  std::ranges::sort(steps);
  int64_t run = 1;
  for (const auto& [stride, count] : steps)
    if (stride <= run) run += stride * count;
  return run;
}

std::vector<Walk> walksOf(const KernelFacts& kernel) {
  std::vector<Walk> walks;
  for (const Access& a : kernel.accesses) {
    if (a.isStore || !a.slot || !isVector(kernel, a)) continue;
    if (UOp loop = nextLoop(a, 1)) walks.push_back({a, loop});
  }
  return walks;
}

bool isReduceLoop(const KernelFacts& kernel, UOp loop) {
  return std::ranges::any_of(kernel.closersOf(loop), [](UOp c) { return c.op() == Op::Reduce; });
}

std::optional<Sweep> sweepOf(const KernelFacts& kernel, const Access& load) {
  Sweep sweep;
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, number of them
  for (UOp r : load.node.src(0).ranges()) {
    const int64_t stride = strideOf(load, r).value_or(0);
    if (isLoop(r) && !isReduceLoop(kernel, r)) continue;
    steps.emplace_back(stride, maxExtent(r) - 1);
    if (isLoop(r) && stride > sweep.stride) sweep.loop = r, sweep.stride = stride;
  }
  if (!sweep.loop) return std::nullopt;
  std::ranges::sort(steps);
  for (const auto& [stride, count] : steps) {
    sweep.isInRuns |= stride >= 2 * sweep.all;
    if (sweep.apart == 0 && stride > sweep.all) sweep.apart = stride;
    sweep.all += stride * count;
  }
  return sweep;
}

}  // namespace svod
