#include "choose/size_cases.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "choose/sized_time.h"
#include "constants/given_order.h"
#include "cost/parameters.h"

namespace svod {

namespace {

constexpr int kHalvings = 5;  // of the way between two points

/// Bytes of the weights that a kernel for small sizes cannot read in the order of the one for large sizes.
int64_t bytesHeldTwice(Graph& graph, UOp small, UOp large, const Caps& caps) {
  int64_t bytes = 0;
  for (UOp param : toposort(large)) {
    if (param.op() != Op::Param) continue;
    const uint32_t slot = param.argAs<SlotArg>().slot;
    if (std::ranges::find(caps.constants, slot) == caps.constants.end()) continue;
    const std::optional<ConstantLayout> order = readingOrder(graph, large, slot);
    if (order == readingOrder(graph, small, slot) || (order && readInOrder(graph, small, *order))) continue;
    bytes += param.maxNumel() * byteSize(param.dtype());
  }
  return bytes;
}

bool isWorthCase(Pattern pattern, double nanoseconds, double timesAsFast) {
  using namespace parameters;
  const bool isProduct = pattern == Pattern::Gemm || pattern == Pattern::Gemv;
  return timesAsFast >= (isProduct ? kProductCaseGain : kCaseGain) &&
         nanoseconds >= (isProduct ? kProductCaseLeast : kCaseLeast);
}

bool isSmaller(const SizePoint& point, const SizePoint& own) { return point.sizes < own.sizes; }

/// The choice that takes the least time at the points on the side of `point`, of the same kind. What is chosen for few
/// rows of a product is for nothing else.
const SizedChoice& bestBeside(std::span<const SizedChoice> choices, const SizePoints& points, const SizePoint& point,
                              const SizePoint& own) {
  return *std::ranges::min_element(choices, {}, [&](const SizedChoice& c) {
    if (points.all()[c.point].isForCase && !point.isForCase) return HUGE_VAL;
    double regret = 0;
    for (size_t i = 0; i < points.all().size(); ++i) {
      const SizePoint& other = points.all()[i];
      const bool isOnSide = other.sizes != own.sizes && isSmaller(other, own) == isSmaller(point, own);
      if (isOnSide && other.isForCase == point.isForCase) regret += other.weight * std::log(c.times[i]);
    }
    return regret;
  });
}

/// Where one choice is better than another one.
class Contest {
 public:
  Contest(Graph& graph, const SizePoints& points, const SizedChoice& best, const SizedChoice& other, const Caps& caps)
      : graph_(graph), points_(points), best_(best), other_(other), caps_(caps), own_(points.all()[best.point]) {}

  /// The sizes of a case for the other choice, which is better at `point`: those of one variable where it decides
  /// alone.
  std::vector<SizeLimits> limits(const SizePoint& point) const {
    for (size_t v = 0; v < own_.sizes.size(); ++v) {
      SizePoint alone = own_;
      alone.sizes[v] = point.sizes[v];
      if (alone.sizes == own_.sizes || alone.sizes == point.sizes || !points_.doesRun(alone.sizes)) continue;
      const auto [best, other] = times(alone.sizes);
      if (!isWorthCase(best_.choice.pattern, best - other, best / other)) continue;
      if (std::vector<SizeLimits> found = limitsTo(alone); !found.empty()) return found;
    }
    return limitsTo(point);
  }

 private:
  /// Halves the way to the point of the best choice, from the nearest one of known times. Between sizes that are close
  /// it may end there, and leave nothing to tell runs apart.
  std::vector<SizeLimits> limitsTo(const SizePoint& point) const {
    double better = 0, worse = 1;
    const SizePoint& from = nearest(point);
    std::vector<int64_t> last = from.sizes;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (better + worse) / 2;
      const std::optional<std::vector<int64_t>> sizes = points_.between(from, own_, middle);
      const auto [best, other] = sizes ? times(*sizes) : std::pair(0.0, 0.0);
      const bool isBetter = other < best;
      (isBetter ? better : worse) = middle;
      if (isBetter) last = *sizes;
    }
    return points_.limits(point, own_, last);
  }

  /// Of one variable, the point on this side nearest to that of the best choice where the other one is better.
  const SizePoint& nearest(const SizePoint& point) const {
    const SizePoint* found = &point;
    for (size_t i = 0; i < points_.all().size() && own_.sizes.size() == 1; ++i) {
      const SizePoint& near = points_.all()[i];
      const bool isBetween = isSmaller(*found, own_) ? isSmaller(*found, near) && isSmaller(near, own_)
                                                     : isSmaller(near, *found) && isSmaller(own_, near);
      if (isBetween && other_.times[i] < best_.times[i]) found = &near;
    }
    return *found;
  }

  std::pair<double, double> times(std::span<const int64_t> sizes) const {
    return {timeAt(graph_, best_.sink, points_, sizes, caps_), timeAt(graph_, other_.sink, points_, sizes, caps_)};
  }

  Graph& graph_;
  const SizePoints& points_;
  const SizedChoice &best_, &other_;
  const Caps& caps_;
  const SizePoint& own_;
};

}  // namespace

std::vector<SizeCase> casesBeside(Graph& graph, const SizePoints& points, std::span<const SizedChoice> choices,
                                  const SizedChoice& best, const Caps& caps) {
  std::vector<SizeCase> cases;
  std::set<bool> sides;
  const SizePoint& own = points.all()[best.point];
  for (size_t i = 0; i < points.all().size(); ++i) {
    const SizePoint& point = points.all()[i];
    if (point.isPricedOnly) continue;
    const SizedChoice& other = bestBeside(choices, points, point, own);
    const double saved = best.times[i] - other.times[i];
    if (!isWorthCase(best.choice.pattern, saved, best.times[i] / other.times[i])) continue;
    const bool isForSmall = isSmaller(point, own);
    if (!sides.insert(isForSmall).second) continue;
    const UOp small = isForSmall ? other.sink : best.sink, large = isForSmall ? best.sink : other.sink;
    if (bytesHeldTwice(graph, small, large, caps) > parameters::kCaseWeights) continue;
    const SizePoint& chosenFor = points.all()[other.point];
    std::vector<SizeLimits> limits = chosenFor.isForCase ? points.limits(chosenFor, own, chosenFor.sizes)
                                                         : Contest(graph, points, best, other, caps).limits(point);
    if (!limits.empty()) cases.push_back({std::move(limits), std::llround(saved)});
  }
  return cases;
}

}  // namespace svod
