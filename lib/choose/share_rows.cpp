#include "choose/share_rows.h"

#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/row_sweeps.h"

namespace svod {

namespace {

bool tryShare(Chooser& c, size_t first) {
  std::vector<Axis> axes = c.facts().axes;
  const std::vector<int32_t> sweeps = sweepsWith(c.facts(), first);
  if (sweeps.size() < 2) return false;
  const AxisList list{{sweeps.begin(), sweeps.end()}};
  return attempt(c, [&](Chooser& trial) {
    if (axes[first].nest == Nest::Reduce)
      if (UOp row = rowsReadingTheSame(c.facts(), axes[first].range, parameters::kLeastSharing))
        trial.apply(OptKind::Upcast, idOf(row), parameters::kSharedRows,
                    "rows that read the same operand share its loads");
    const int64_t before = transcendentalsOf(trial.facts());
    return trial.apply(OptKind::Share, list, "later sweeps need the expensive values again") &&
           transcendentalsOf(trial.facts()) < before;
  });
}

}  // namespace

void shareRows(Chooser& c) {
  std::vector<Axis> axes = c.facts().axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisType type = axisType(axes[i].range);
    bool sweep = type == AxisType::Loop || type == AxisType::Reduce;
    if (sweep && maxExtent(axes[i].range) * 8 <= residentBytes(c.caps) && tryShare(c, i)) return;
  }
}

}  // namespace svod
