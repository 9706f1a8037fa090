#include "choose/grid.h"

#include <algorithm>
#include <functional>

#include "facts/reduces.h"
#include "ir/gpu_op.h"
#include "ir/workgroup.h"

namespace svod {

namespace {

std::vector<AxisRef> outputsOf(const Chooser& c, AxisType type) {
  std::vector<AxisRef> numbers;
  const std::vector<Axis>& axes = c.facts().axes;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].nest == Nest::Output && axisType(axes[i].range) == type) numbers.push_back(static_cast<int32_t>(i));
  const auto isUnit = [&](const AxisRef& axis) { return axes[static_cast<size_t>(axis)].range.src(0).isConst(1); };
  if (!std::ranges::all_of(numbers, isUnit)) std::erase_if(numbers, isUnit);
  return numbers;
}

/// Output loops that no sum and no copy depends on: each workgroup along them would compute those again.
std::vector<UOp> loopsBesideSums(const Chooser& c) {
  std::vector<UOp> folds = loopedReduces(c.facts()), loops;
  if (folds.empty()) return loops;
  folds.insert(folds.end(), c.facts().fills.begin(), c.facts().fills.end());
  for (const Axis& a : c.facts().axes)
    if (a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && maxExtent(a.range) > 1 &&
        std::ranges::none_of(folds, [&](UOp fold) { return fold.dependsOn(a.range); }))
      loops.push_back(a.range);
  return loops;
}

/// The least divisor of `extent` from `amount` on, if it is near.
int64_t nearDivisor(int64_t extent, int64_t amount) {
  for (int64_t n = amount; n < std::min(2 * amount, extent); ++n)
    if (extent % n == 0) return n;
  return amount;
}

/// Terms of all sums that one thread adds up.
int64_t termsOfThread(const Chooser& c) {
  int64_t terms = 0;
  for (UOp reduce : loopedReduces(c.facts())) {
    int64_t of = 1;
    for (UOp r : reduce.src().subspan(1))
      if (!isThreadOfGroup(axisType(r)) && axisType(r) != AxisType::Vector) of *= std::max<int64_t>(1, maxExtent(r));
    terms += of;
  }
  return terms;
}

/// Of the loops beside sums, the parts that threads run in order. Parts in the grid fill the GPU, but are of no use
/// where a thread takes longer for its sums than for its results, but that the lanes of a warp compute one at no cost.
std::vector<uint32_t> keptInThreads(Chooser& c) {
  constexpr int64_t kThreadsOfUnit = 2048;
  const std::vector<UOp> beside = loopsBesideSums(c);
  if (beside.empty()) return {};
  int64_t threads = workgroupThreads(c.sink), results = 1;
  for (const Axis& a : c.facts().axes)
    if (a.nest == Nest::Output && axisType(a.range) == AxisType::Loop)
      (std::ranges::find(beside, a.range) == beside.end() ? threads : results) *=
          std::max<int64_t>(1, maxExtent(a.range));
  const int64_t most = c.caps.gpu.units * kThreadsOfUnit / std::max<int64_t>(1, threads);
  int64_t parts = std::min(most, std::max(ceilDiv(results, std::max<int64_t>(1, termsOfThread(c))),
                                          kWarpLanes / std::max<int64_t>(1, threads)));
  std::vector<uint32_t> kept;
  for (UOp loop : beside) {
    const int64_t extent = maxExtent(loop);
    if (extent > parts)
      kept.push_back(parts > 1 ? c.innerOfTile(idOf(loop), nearDivisor(extent, ceilDiv(extent, parts)),
                                               "threads compute their sums once for several results")
                               : idOf(loop));
    parts = extent <= parts ? parts / extent : 1;
  }
  return kept;
}

}  // namespace

bool fillGrid(Chooser& c) {
  const std::vector<uint32_t> kept = keptInThreads(c);
  const auto isKept = [&](const AxisRef& axis) {
    return std::ranges::find(kept, idOf(c.facts().axes[static_cast<size_t>(axis)].range)) != kept.end();
  };
  std::vector<AxisRef> order = outputsOf(c, AxisType::Loop);
  std::ranges::stable_partition(order, std::not_fn(isKept));
  if (!kept.empty() && !std::ranges::is_sorted(order, {}, &AxisRef::number))
    c.apply(OptKind::Order, AxisList{order}, "the grid outside of what threads run in order");
  const auto gridLoops = [&] {
    std::vector<AxisRef> outputs = outputsOf(c, AxisType::Loop);
    std::erase_if(outputs, isKept);
    return outputs;
  };
  std::vector<AxisRef> outputs = gridLoops();
  while (outputs.size() > 3 && c.apply(OptKind::Merge, AxisList{{outputs[0], outputs[1]}}, "a grid has three axes"))
    outputs = gridLoops();
  return !outputs.empty() && c.apply(OptKind::Global, AxisList{outputs}, "results do not depend on each other");
}

void fillWorkgroups(Chooser& c) {
  const int32_t innermost = outputsOf(c, AxisType::Global).back();
  const int64_t extent = maxExtent(c.facts().axes[static_cast<size_t>(innermost)].range);
  for (int64_t threads : {256, 128, 64, 32, 16, 8})
    if (threads <= extent && c.apply(OptKind::Local, AxisAmount{innermost, threads}, "neighbours in one workgroup"))
      return;
}

}  // namespace svod
