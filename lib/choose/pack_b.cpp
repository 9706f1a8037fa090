#include "choose/pack_b.h"

#include "choose/copy_lanes.h"
#include "cost/far_panels.h"

namespace svod {

uint32_t splitColumns(Chooser& c, uint32_t column, uint32_t row, int64_t columns) {
  const uint32_t inner = c.innerOfTile(column, columns, "the columns of one panel");
  if (inner == column) return inner;
  const int32_t j = c.numberOf(column), i = c.numberOf(row);
  const bool isInside = i >= 0 && i < j;
  AxisList order{{j}};
  if (std::optional<Access> panels = farPanels(c.facts(), c.range(column), c.range(row), c.caps)) {
    const std::vector<Axis>& axes = c.facts().axes;
    int32_t first = j;
    while (first > 0 && !panels->node.dependsOn(axes[static_cast<size_t>(first) - 1].range)) --first;
    for (int32_t k = first; k < j; ++k) order.axes.push_back(k);
  } else if (isInside) {
    order.axes.push_back(i);
  }
  const bool prior = order.axes.size() > 1;
  if ((prior || isInside) && c.branches.decide(Branch::Order, prior))
    c.apply(OptKind::Order, prior ? order : AxisList{{j, i}}, "one panel of columns serves all rows");
  return inner;
}

void packPanel(Chooser& c, const Panel& panel, uint32_t column, int64_t width, int64_t vectors) {
  PackArgs args{panel.slot, {}};
  for (UOp r : panel.reduceAxes) args.axes.push_back(c.numberOf(idOf(r)));
  args.axes.push_back(c.numberOf(column));
  c.apply(OptKind::Pack, args, "rows that are far apart in memory, copied once for all row tiles");
  vectorizePanel(c, panel.slot, width, vectors);
}

}  // namespace svod
