#include "cost/predict.h"

#include <algorithm>

#include "cost/gpu_cost.h"
#include "cost/kernel_cost.h"
#include "cost/levels.h"

namespace svod {

namespace {

double movingTime(const Work& work, const Caps& caps) {
  if (caps.workgroups) return work.bytes * 1e3 / caps.gpu.memoryMBs;
  if (work.bytes > static_cast<double>(caps.l2Bytes)) return work.bytes * 1e3 / caps.memoryMBs;
  return nanosecondsOf(work.bytes / caps.vectorBytes, caps);
}

/// Of all units, by tensor cores where the kernel has them multiply.
double peakTimeOnGpu(const KernelFacts& kernel, const Work& work, const GpuTarget& gpu) {
  const int lanesOf[] = {gpu.lanes, gpu.coreLanes, gpu.warpgroupLanes};
  const double lanes = lanesOf[static_cast<size_t>(multipliersOf(kernel))];
  return work.flops * 1e3 / (2 * lanes * gpu.units * gpu.clockMHz);
}

double peakTime(const KernelFacts& kernel, const Work& work, const Caps& caps) {
  if (caps.workgroups) return peakTimeOnGpu(kernel, work, caps.gpu);
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
  Prediction p;
  p.roofline = std::max(movingTime(work, caps), peakTime(kernel, work, caps));
  if (caps.workgroups) {
    const GpuCost cost = gpuCostOf(kernel, caps);
    p.expected = std::max(cost.total, p.roofline);
    const double moving = std::max(cost.cache, cost.memory), most = std::max(moving, cost.computing);
    p.limit = cost.total > 2 * most ? Limit::Latency : most == moving ? Limit::Memory : Limit::Compute;
    return p;
  }
  const KernelCost cost = costOf(kernel, caps);
  p.expected = std::max(cost.total, p.roofline);
  const double most = std::max({cost.moving, cost.computing, cost.waiting});
  p.limit = most == cost.moving ? Limit::Memory : most == cost.computing ? Limit::Compute : Limit::Latency;
  return p;
}

}  // namespace svod
