#include "search/plan_guard.h"

#include <numeric>

namespace svod {

namespace {

class Guard {
 public:
  explicit Guard(GuardMeasure& measure) : measure_(measure) {}

  GuardResult run(size_t winners) {
    if (winners == 0) return {};
    const WholeTimes all = with(0, winners);
    if (all.isSlower)
      split(0, winners, all);
    else
      keep(0, winners, all);
    return std::move(result_);
  }

 private:
  WholeTimes with(size_t first, size_t end) {
    std::vector<size_t> some = result_.kept;
    for (size_t i = first; i < end; ++i) some.push_back(i);
    return measure_.with(some);
  }
  void keep(size_t first, size_t end, const WholeTimes& times) {
    for (size_t i = first; i < end; ++i) result_.kept.push_back(i);
    result_.times = times;
  }

  /// With all from `first` on the plan is slower.
  void split(size_t first, size_t end, const WholeTimes& slower) {
    if (end - first == 1) {
      result_.dropped.push_back({first, slower});
      return;
    }
    const size_t middle = std::midpoint(first, end), before = result_.kept.size();
    take(first, middle);
    if (result_.kept.size() - before == middle - first)
      split(middle, end, slower);  // these are those that were slower
    else
      take(middle, end);
  }
  void take(size_t first, size_t end) {
    if (measure_.isOver()) {
      for (size_t i = first; i < end; ++i) result_.dropped.push_back({i, std::nullopt});
      return;
    }
    const WholeTimes times = with(first, end);
    if (times.isSlower)
      split(first, end, times);
    else
      keep(first, end, times);
  }

  GuardMeasure& measure_;
  GuardResult result_;
};

}  // namespace

GuardResult guardPlan(size_t winners, GuardMeasure& measure) { return Guard(measure).run(winners); }

}  // namespace svod
