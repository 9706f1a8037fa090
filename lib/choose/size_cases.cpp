#include "choose/size_cases.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "constants/constant_layout.h"
#include "cost/kernel_cost.h"
#include "cost/parameters.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int kHalvings = 3;  // of the way between two points

/// Bytes of the weights that both kernels read, each in an order of its own.
int64_t bytesHeldTwice(Graph& graph, UOp a, UOp b, const Caps& caps) {
  int64_t bytes = 0;
  for (UOp param : toposort(a)) {
    if (param.op() != Op::Param) continue;
    const uint32_t slot = param.argAs<SlotArg>().slot;
    if (std::ranges::find(caps.constants, slot) == caps.constants.end()) continue;
    if (readingOrder(graph, a, slot) != readingOrder(graph, b, slot))
      bytes += param.maxNumel() * byteSize(param.dtype());
  }
  return bytes;
}

const SizedChoice& bestAt(std::span<const SizedChoice> choices, size_t point) {
  return *std::ranges::min_element(choices, {}, [&](const SizedChoice& c) { return c.times[point]; });
}

}  // namespace

UOp kernelAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps) {
  return dropUnitRanges(graph, simplifyKernel(graph, points.at(graph, sink, sizes), caps.numerics));
}

double timeAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps) {
  FactsCache cache;
  return timeOf(cache.of(kernelAt(graph, sink, points, sizes, caps)), caps).shared;
}

std::vector<SizeCase> casesBeside(Graph& graph, const SizePoints& points, std::span<const SizedChoice> choices,
                                  const SizedChoice& best, const Caps& caps) {
  std::vector<SizeCase> cases;
  std::set<bool> sides;
  const SizePoint& own = points.all()[best.point];
  for (size_t i = 0; i < points.all().size(); ++i) {
    const SizePoint& point = points.all()[i];
    if (point.isPricedOnly) continue;
    const SizedChoice& other = bestAt(choices, i);
    const double saved = best.times[i] - other.times[i];
    if (best.times[i] < parameters::kCaseGain * other.times[i] || saved < parameters::kCaseLeast) continue;
    if (!sides.insert(point.sizes < own.sizes).second) continue;
    if (bytesHeldTwice(graph, best.sink, other.sink, caps) > parameters::kCaseWeights) continue;
    double better = 0, worse = 1;
    std::vector<int64_t> last = point.sizes;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (better + worse) / 2;
      const std::optional<std::vector<int64_t>> sizes = points.between(point, own, middle);
      const bool isBetter =
          sizes && timeAt(graph, other.sink, points, *sizes, caps) < timeAt(graph, best.sink, points, *sizes, caps);
      (isBetter ? better : worse) = middle;
      if (isBetter) last = *sizes;
    }
    // Between sizes that are close the way may end at the other point, and leave nothing to tell runs apart.
    if (std::vector<SizeLimits> limits = points.limits(point, own, last); !limits.empty())
      cases.push_back({std::move(limits), std::llround(saved)});
  }
  return cases;
}

}  // namespace svod
