#include "choose/lanes.h"

#include <algorithm>

#include "choose/laid_out.h"
#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/local_buffers.h"
#include "facts/panels.h"
#include "facts/patterns.h"

namespace svod {

namespace {

// Operands of a reduce that are not contiguous along `axis` but the same for many rows: copied once to a panel where
// they are contiguous, they cost no more than others. Constants are copied when the plan is built.
std::vector<Access> packable(const Chooser& c, std::span<const uint32_t> laidOut, UOp axis, int64_t width) {
  const KernelFacts& kernel = c.facts();
  std::vector<Access> found;
  if (kernel.pattern() != Pattern::Gemm) return found;
  const auto hasRows = [&](const Access& load, UOp reduce) {
    return std::ranges::any_of(kernel.axes, [&](const Axis& row) {
      return row.nest == Nest::Output && row.range != axis && axisType(row.range) == AxisType::Loop &&
             maxExtent(row.range) >= parameters::kWorthPanel && reduce.dependsOn(row.range) &&
             !load.node.dependsOn(row.range) && !fillsStage(kernel, row.range);
    });
  };
  for (const Access& a : kernel.accesses) {
    const bool isOnly = std::ranges::count(kernel.accesses, a.slot, &Access::slot) == 1;
    if (a.isStore || !a.slot || !isOnly || !a.node.dependsOn(axis) || strideOf(a, axis) == 1) continue;
    const bool isFree = std::ranges::find(laidOut, *a.slot) != laidOut.end();
    for (UOp n : kernel.reduces) {
      if (std::ranges::none_of(n.src().subspan(1), [&](UOp r) { return a.node.dependsOn(r); })) continue;
      const std::optional<Panel> panel = panelOf(a, n);
      if (panel && (isFree || (panel->bytesPerColumn * width <= c.caps.l2Bytes && hasRows(a, n)))) found.push_back(a);
    }
  }
  return found;
}

// Adds the best lanes of every reduce and stage whose value has none yet.
std::vector<Lanes> withReduces(const Chooser& c, const CostModel& model, std::vector<Lanes> lanes) {
  const std::vector<UOp>& nodes = c.facts().nodes;
  // Two reduces over one loop share its lanes; no value may then have two lane axes.
  const auto mayTake = [&](UOp range) {
    return range.op() == Op::Range && axisType(range) != AxisType::Dot && std::ranges::none_of(nodes, [&](UOp n) {
             return n.dependsOn(range) &&
                    std::ranges::any_of(lanes, [&](const Lanes& l) { return n.dependsOn(l.range); });
           });
  };
  for (UOp n : nodes) {
    if (n.op() != Op::Reduce && n.op() != Op::Stage) continue;
    if (n.op() == Op::Reduce && !mayReassociate(c.caps, n.dtype())) continue;
    if (std::ranges::any_of(lanes, [&](const Lanes& l) { return n.src(0).dependsOn(l.range); })) continue;
    if (std::ranges::any_of(n.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Vector; })) continue;
    std::vector<Lanes> best = lanes;
    double cost = model.instructions(lanes);
    for (UOp r : n.src().subspan(1)) {
      if (!mayTake(r)) continue;
      for (int64_t w : model.widths(r)) {
        std::vector<Lanes> more = lanes;
        more.push_back({r, w});
        if (double other = model.instructions(more); other < parameters::kClearlyLess * cost) best = more, cost = other;
      }
    }
    lanes = best;
  }
  return lanes;
}

}  // namespace

// The best vector axis for each loop nest, by the cost model.
LanePlan chooseLanes(const Chooser& c) {
  using parameters::kReduceLanes, parameters::kPanelLanes;
  const CostModel model(c.facts(), c.caps);
  const std::vector<uint32_t> laidOut = laidOutSlots(c);
  // Lanes of a reduce end in a fold and leave what follows the reduce scalar; a panel costs more than its copies.
  LanePlan best{withReduces(c, model, {}), {}};
  double cost = kReduceLanes * model.instructions(best.lanes);
  for (const Axis& axis : c.facts().axes) {
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop || fillsStage(c.facts(), axis.range))
      continue;
    for (int64_t w : model.widths(axis.range)) {
      std::vector<Lanes> lanes = withReduces(c, model, {{axis.range, w}});
      if (double other = model.instructions(lanes); other < cost) best = {lanes, {}}, cost = other;
      for (const Access& load : packable(c, laidOut, axis.range, w)) {
        const bool isFree = std::ranges::find(laidOut, *load.slot) != laidOut.end();
        if (double other = (isFree ? 1 : kPanelLanes) * model.instructions(lanes, &load); other < cost)
          best = {lanes, isFree ? std::nullopt : load.slot}, cost = other;
      }
    }
  }
  return best;
}

}  // namespace svod
