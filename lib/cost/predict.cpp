#include "cost/predict.h"

#include <algorithm>

#include "cost/cost.h"

namespace svod {

namespace {

double nanosecondsOf(double cycles, const Caps& caps) { return cycles * 1e3 / caps.clockMHz; }

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

// A long reduction adds to one sum again and again, and each addition waits for the one before. Short ones overlap with
// what comes after them.
double waitingTime(const KernelFacts& kernel, const Caps& caps) {
  constexpr double kOverlaps = 32;  // additions
  const LoopsOf& loops = kernel.loops();
  double cycles = 0;
  for (UOp n : kernel.reduces) {
    double steps = 1, runs = 1;
    for (UOp r : n.src().subspan(1))
      if (r.op() == Op::Range && !isExpanded(axisType(r)))
        steps *= static_cast<double>(std::max<int64_t>(maxExtent(r), 1));
    for (UOp r : loops[n])
      if (!isExpanded(axisType(r))) runs *= static_cast<double>(std::max<int64_t>(maxExtent(r), 1));
    if (steps > kOverlaps) cycles += steps * runs * caps.fmaLatency;
  }
  return nanosecondsOf(cycles, caps);
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
  const auto products = caps.numerics == Numerics::Strict ? CostModel::Products::Separate : CostModel::Products::Joined;
  const KernelFacts kernel(sink);
  const double moving = movingTime(work, caps), waiting = waitingTime(kernel, caps);
  const double instructions = CostModel(kernel, caps, products).instructions(kernel.lanes);
  const double computing = std::max(nanoseconds(instructions), peakTime(kernel, work, caps));
  Prediction p;
  p.expected = std::max({moving, computing, waiting});
  p.roofline = std::max(moving, peakTime(kernel, work, caps));
  p.limit = p.expected == moving ? Limit::Memory : p.expected == computing ? Limit::Compute : Limit::Latency;
  return p;
}

}  // namespace svod
