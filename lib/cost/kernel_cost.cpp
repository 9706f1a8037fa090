#include "cost/kernel_cost.h"

#include "cost/gpu_cost.h"

#include <algorithm>
#include <cmath>

#include "cost/bodies.h"
#include "cost/parameters.h"
#include "cost/traffic.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

struct BodyCycles {
  double computing = 0, waiting = 0;
};

double innermost(const Body& body) { return body.loops.empty() ? 1 : extentOf(body.loops.back()); }

BodyCycles cyclesOf(const Body& body, const Caps& caps) {
  const double spills = std::max(0.0, body.accumulators + 2 - caps.vectorRegisters);
  const double each =
      std::max({body.each.arithmetic, body.each.memory + spills * kSpillCycles, body.each.instructions / caps.issued});
  const double steps = innermost(body);
  BodyCycles cycles;
  cycles.computing = body.runs * each;
  if (body.additions > 0 && steps > 1) {
    const double overlapping = std::max(1.0, kWindow / std::max(1.0, steps * body.each.instructions));
    cycles.waiting = body.runs * body.additions * caps.fmaLatency / overlapping;
  }
  return cycles;
}

// Starting every loop that runs, and its turns.
double loopCycles(const Bodies& bodies) {
  std::vector<std::vector<UOp>> seen;
  double cycles = 0;
  for (const Body& body : bodies.all) {
    std::vector<UOp> loops = body.loops;
    for (; !loops.empty(); loops.pop_back()) {
      if (std::ranges::find(seen, loops) != seen.end()) continue;
      seen.push_back(loops);
      double runs = 1;
      for (UOp r : loops) runs *= extentOf(r);
      const double extent = extentOf(loops.back());
      if (extent > 1) cycles += runs * kIterationCycles + runs / extent * kLoopCycles;
    }
  }
  return cycles;
}

// Two things done at a time: the longer one, and a part of the other where they are as long.
double together(double a, double b) { return std::hypot(a, b); }

bool isJoined(UOp n, const KernelFacts& kernel) {  // a product that is one instruction with the addition
  return n.op() == Op::Mul && std::ranges::any_of(kernel.reduces, [&](UOp reduce) { return reduce.src(0) == n; });
}

}  // namespace

KernelCost costOf(const KernelFacts& kernel, const Caps& caps) {
  const Bodies bodies = bodiesOf(kernel, caps, caps.numerics != Numerics::Strict);
  const std::vector<Traffic> traffic = trafficOf(bodies, caps);
  KernelCost cost;
  for (const Body& body : bodies.all) {
    const BodyCycles cycles = cyclesOf(body, caps);
    const double computing = nanosecondsOf(cycles.computing, caps), waiting = nanosecondsOf(cycles.waiting, caps);
    double moving = 0;
    for (size_t touch : body.touches) moving += nanosecondsOf(traffic[touch], caps);
    cost.computing += computing, cost.waiting += waiting, cost.moving += moving;
    cost.total += together(std::max(computing, waiting), moving);
  }
  const double loops = nanosecondsOf(loopCycles(bodies), caps);
  cost.computing += loops;
  cost.total += loops + kLaunchNs;
  return cost;
}

KernelTime timeOf(const KernelFacts& kernel, const Caps& caps) {
  if (caps.workgroups) {
    const double time = gpuCostOf(kernel, caps).total;
    return {time, time};
  }
  int64_t tiles = 1;
  for (const Axis& axis : kernel.axes)
    if (axisType(axis.range) == AxisType::Thread) tiles *= std::max<int64_t>(maxExtent(axis.range), 1);
  const int64_t workers = caps.threads ? caps.workers : 1;
  const double time = costOf(kernel, caps).total;
  return {time, time * static_cast<double>(ceilDiv(tiles, workers)) / static_cast<double>(tiles)};
}

double leastNanoseconds(const KernelFacts& kernel, const Caps& caps) {
  double cycles = 0;
  for (UOp n : kernel.nodes) {
    double each = cyclesOf(n, caps).arithmetic * static_cast<double>(laneBytes(n)) / caps.vectorBytes;
    if (each == 0 || (caps.numerics != Numerics::Strict && isJoined(n, kernel))) continue;
    std::vector<UOp> loops(n.ranges().begin(), n.ranges().end());
    if (n.op() == Op::Reduce) loops.insert(loops.end(), n.src().begin() + 1, n.src().end());
    for (UOp r : loops)
      if (axisType(r) != AxisType::Dot) each *= extentOf(r);
    cycles += each;
  }
  return nanosecondsOf(cycles, caps);
}

}  // namespace svod
