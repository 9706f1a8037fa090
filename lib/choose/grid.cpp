#include "choose/grid.h"

#include <algorithm>

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

}  // namespace

bool fillGrid(Chooser& c) {
  std::vector<AxisRef> outputs = outputsOf(c, AxisType::Loop);
  while (outputs.size() > 3 && c.apply(OptKind::Merge, AxisList{{outputs[0], outputs[1]}}, "a grid has three axes"))
    outputs = outputsOf(c, AxisType::Loop);
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
