#include "choose/grid.h"

#include "choose/tensor_core.h"

namespace svod {

void fillGrid(Chooser& c) {
  const bool multiplies = useTensorCore(c);  // before axes are merged: a tile takes some of one operand alone
  auto outputs = [&] {
    std::vector<int32_t> numbers;
    std::vector<Axis> axes = axesOf(c.sink);
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].nest == Nest::Output && axisType(axes[i].range) == AxisType::Loop)
        numbers.push_back(static_cast<int32_t>(i));
    return numbers;
  };
  while (outputs().size() > 3 &&
         c.apply(OptKind::Merge, AxisList{{outputs()[0], outputs()[1]}}, "a grid has three axes")) {
  }
  std::vector<int32_t> grid = outputs();
  if (grid.empty() || !c.apply(OptKind::Global, AxisList{grid}, "results do not depend on each other")) return;
  if (multiplies) return;
  for (int64_t threads : {256, 128, 64, 32, 16, 8})
    if (threads <= maxExtent(axesOf(c.sink)[static_cast<size_t>(grid.back())].range) &&
        c.apply(OptKind::Local, AxisAmount{grid.back(), threads}, "neighbours in one workgroup"))
      return;
}

}  // namespace svod
