#include "cost/predict.h"

#include <algorithm>

#include "cost/kernel_cost.h"
#include "cost/levels.h"

namespace svod {

namespace {

double movingTime(const Work& work, const Caps& caps) {
  if (work.bytes > static_cast<double>(caps.l2Bytes)) return work.bytes * 1e3 / caps.memoryMBs;
  return nanosecondsOf(work.bytes / caps.vectorBytes, caps);
}

double peakTime(const KernelFacts& kernel, const Work& work, const Caps& caps) {
  int64_t widest = 4, group = 1;
  for (UOp n : kernel.nodes) {
    if (isFloat(n.dtype())) widest = std::max<int64_t>(widest, byteSize(n.dtype()));
    if (n.op() == Op::Range && axisType(n) == AxisType::Dot) group = std::max(group, maxExtent(n));
  }
  const double perCycle = 2.0 * caps.fmaPerCycle * static_cast<double>(caps.vectorBytes / widest * group);
  return nanosecondsOf(work.flops / perCycle, caps);
}

}  // namespace

std::string_view toText(Limit limit) {
  constexpr std::string_view kText[] = {"memory", "compute", "latency"};
  return kText[static_cast<size_t>(limit)];
}

double rooflineNanoseconds(UOp sink, const Work& work, const Caps& caps) {
  return std::max(movingTime(work, caps), peakTime(KernelFacts(sink), work, caps));
}

Prediction predict(UOp sink, const Work& work, const Caps& caps) {
  const KernelFacts kernel(sink);
  const KernelCost cost = costOf(kernel, caps);
  Prediction p;
  p.roofline = std::max(movingTime(work, caps), peakTime(kernel, work, caps));
  p.expected = std::max(cost.total, p.roofline);
  const double most = std::max({cost.moving, cost.computing, cost.waiting});
  p.limit = most == cost.moving ? Limit::Memory : most == cost.computing ? Limit::Compute : Limit::Latency;
  return p;
}

}  // namespace svod
