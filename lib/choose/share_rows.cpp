#include "choose/share_rows.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

namespace {

int transcendentals(const KernelFacts& kernel) {
  return static_cast<int>(std::ranges::count_if(kernel.nodes, [](UOp n) { return has(n.op(), Transcend); }));
}

// The axes that start with `first` and have its extent: sweeps over the same row.
AxisList sweeps(std::span<const Axis> axes, size_t first) {
  AxisList list{{static_cast<int32_t>(first)}};
  for (size_t k = 0; k < axes.size(); ++k)
    if (k != first && axes[k].nest == Nest::Reduce && axes[k].range.src(0) == axes[first].range.src(0))
      list.axes.push_back(static_cast<int32_t>(k));
  return list;
}

// An output loop over rows whose reduce along `sweep` reads another operand again for every row (attention):
// several rows at a time share those loads. Null where there is none.
UOp rowsReadingTheSame(const Chooser& c, UOp sweep) {
  for (const Axis& row : c.facts().axes) {
    if (row.nest != Nest::Output || axisType(row.range) != AxisType::Loop || maxExtent(row.range) < 8) continue;
    for (UOp reduce : c.facts().closersOf(sweep)) {
      if (reduce.op() != Op::Reduce || !reduce.dependsOn(row.range)) continue;
      for (const Access& a : c.facts().accesses)
        if (a.node.dependsOn(sweep) && !a.node.dependsOn(row.range)) return row.range;
    }
  }
  return {};
}

bool tryShare(Chooser& c, size_t first) {
  std::vector<Axis> axes = c.facts().axes;
  AxisList list = sweeps(axes, first);
  if (list.axes.size() < 2) return false;
  return attempt(c, [&](Chooser& trial) {
    if (axes[first].nest == Nest::Reduce)
      if (UOp row = rowsReadingTheSame(c, axes[first].range))
        trial.apply(OptKind::Upcast, idOf(row), parameters::kSharedRows,
                    "rows that read the same operand share its loads");
    const int before = transcendentals(trial.facts());
    return trial.apply(OptKind::Share, list, "later sweeps need the expensive values again") &&
           transcendentals(trial.facts()) < before;
  });
}

}  // namespace

void shareRows(Chooser& c) {
  std::vector<Axis> axes = c.facts().axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisType type = axisType(axes[i].range);
    bool sweep = type == AxisType::Loop || type == AxisType::Reduce;
    if (sweep && maxExtent(axes[i].range) * 8 <= c.caps.l2Bytes / 2 && tryShare(c, i)) return;
  }
}

}  // namespace svod
