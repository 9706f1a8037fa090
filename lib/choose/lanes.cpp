#include "choose/lanes.h"

#include <algorithm>

#include "cost/cost.h"
#include "cost/lane_panels.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"

namespace svod {

namespace {

// Adds the best lanes of every reduce and fill whose value has none yet.
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
    if (n.op() != Op::Reduce && n.op() != Op::Fill) continue;
    if (n.op() == Op::Reduce && !mayReassociate(c.caps, n.dtype())) continue;
    if (std::ranges::any_of(lanes, [&](const Lanes& l) { return n.src(0).dependsOn(l.range); })) continue;
    if (std::ranges::any_of(n.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Vector; })) continue;
    std::vector<Lanes> best = lanes;
    double cost = model.instructions(lanes);
    for (UOp r : n.src().subspan(1)) {
      if (!mayTake(r)) continue;
      for (int64_t w : model.widths(r)) {
        if (sumsGroups(n) && maxExtent(r) % w != 0) continue;  // the lanes behind the end would be masked byte by byte
        std::vector<Lanes> more = lanes;
        more.push_back({r, w});
        if (double other = model.instructions(more); other < parameters::kClearlyLess * cost) best = more, cost = other;
      }
    }
    lanes = best;
  }
  return lanes;
}

// Adds lanes to every output loop that shares no value with those that have some: another piece of a line.
std::vector<Lanes> withOtherPieces(const Chooser& c, const CostModel& model, std::vector<Lanes> lanes) {
  for (const Axis& axis : c.facts().axes) {
    const bool isFree = axis.nest == Nest::Output && axisType(axis.range) == AxisType::Loop &&
                        std::ranges::none_of(c.facts().nodes, [&](UOp n) {
                          return n.dependsOn(axis.range) &&
                                 std::ranges::any_of(lanes, [&](const Lanes& l) { return n.dependsOn(l.range); });
                        });
    if (lanes.empty() || !isFree || isInFill(c.facts(), axis.range)) continue;
    std::vector<Lanes> best = lanes;
    double cost = model.instructions(lanes);
    for (int64_t w : model.widths(axis.range)) {
      if (maxExtent(axis.range) < w) continue;  // masks of a short piece cost more than its elements
      std::vector<Lanes> more = lanes;
      more.push_back({axis.range, w});
      if (const double other = model.instructions(more); other < cost) best = more, cost = other;
    }
    lanes = best;
  }
  return lanes;
}

}  // namespace

// The best vector axis for each loop nest, by the cost model.
LanePlan chooseLanes(const Chooser& c, Panels panels, UOp without) {
  using parameters::kReduceLanes, parameters::kPanelLanes;
  const CostModel model(c.facts(), c.caps);
  const std::vector<uint32_t> laidOut = c.laidOut();
  // Lanes of a reduce end in a fold and leave what follows the reduce scalar; a panel costs more than its copies.
  LanePlan best{withReduces(c, model, {}), {}};
  double cost = kReduceLanes * model.instructions(best.lanes);
  for (const Axis& axis : c.facts().axes) {
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop || isInFill(c.facts(), axis.range) ||
        axis.range == without)
      continue;
    for (int64_t w : model.widths(axis.range)) {
      std::vector<Lanes> lanes = withReduces(c, model, {{axis.range, w}});
      if (double other = model.instructions(lanes); other < cost) best = {lanes, {}}, cost = other;
      for (const Access& load : panelsForLanes(c.facts(), c.caps, laidOut, axis.range, w)) {
        const bool isFree = std::ranges::find(laidOut, *load.slot) != laidOut.end();
        if (!isFree && panels == Panels::Free) continue;
        if (double other = (isFree ? 1 : kPanelLanes) * model.instructions(lanes, &load); other < cost)
          best = {lanes, isFree ? std::nullopt : load.slot}, cost = other;
      }
    }
  }
  best.lanes = withOtherPieces(c, model, std::move(best.lanes));
  return best;
}

}  // namespace svod
