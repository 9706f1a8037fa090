#include "choose/lanes.h"

#include <algorithm>

#include "choose/laid_out.h"
#include "choose/local_buffers.h"
#include "choose/pack_b.h"
#include "choose/parameters.h"
#include "cost/cost.h"
#include "facts/accesses.h"
#include "facts/patterns.h"

namespace svod {

namespace {

// Widths worth trying on a loop: full vectors, and narrower ones for short loops or to avoid a masked
// remainder.
std::vector<int64_t> widthsFor(UOp range, int64_t full) {
  std::vector<int64_t> widths;
  std::optional<int64_t> extent = constExtent(range);
  if (!extent) return {full};
  for (int64_t w = full; w >= 2; w /= 2) {
    if (w < 2 * *extent) widths.push_back(w);
    if (*extent % w == 0) break;
  }
  return widths;
}

// The best vector axis for each loop nest, by the cost model.
class LaneChoice {
 public:
  LaneChoice(const Chooser& c, const CostModel& model) : c_(c), model_(model) {
    for (uint32_t slot : c.caps.constants)
      if (isLaidOut(c, slot)) laidOut_.push_back(slot);
  }

  LanePlan best() const {
    // Lanes of a reduce end in a fold and leave what follows the reduce scalar; a panel costs more than its
    // copies.
    using parameters::kReduceLanes, parameters::kPanelLanes;
    LanePlan best{withReduces({}), {}};
    double cost = kReduceLanes * model_.instructions(best.lanes);
    for (const Axis& axis : c_.facts().axes) {
      if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop || fillsStage(c_.facts(), axis.range))
        continue;
      for (int64_t w : widthsFor(axis.range, model_.fullWidth(axis.range))) {
        std::vector<Lanes> lanes = withReduces({{axis.range, w}});
        if (double other = model_.instructions(lanes); other < cost) best = {lanes, {}}, cost = other;
        for (const Access& load : packable(axis.range, w)) {
          const bool isFree = isLaidOutSlot(*load.slot);
          if (double other = (isFree ? 1 : kPanelLanes) * model_.instructions(lanes, &load); other < cost)
            best = {lanes, isFree ? std::nullopt : load.slot}, cost = other;
        }
      }
    }
    return best;
  }

 private:
  bool isLaidOutSlot(uint32_t slot) const { return std::ranges::find(laidOut_, slot) != laidOut_.end(); }

  // Operands of a reduce that are not contiguous along `axis` but the same for many rows: copied once to a
  // panel where they are contiguous, they cost no more than others. Constants are copied when the plan is built.
  std::vector<Access> packable(UOp axis, int64_t width) const {
    std::vector<Access> all = c_.facts().accesses, found;
    if (c_.facts().pattern() != Pattern::Gemm) return found;
    for (const Access& a : all) {
      bool only = std::ranges::count(all, a.slot, &Access::slot) == 1;
      if (a.isStore || !a.slot || !only || !a.node.dependsOn(axis) || strideOf(a, axis) == 1) continue;
      for (UOp n : c_.facts().nodes) {
        if (n.op() != Op::Reduce || !isInside(a.node, n)) continue;
        std::optional<Panel> panel = panelOf(a, n);
        if (panel &&
            (isLaidOutSlot(*a.slot) || (panel->bytesPerColumn * width <= c_.caps.l2Bytes && hasRows(a, n, axis))))
          found.push_back(a);
      }
    }
    return found;
  }

  static bool isInside(UOp load, UOp reduce) {
    return std::ranges::any_of(reduce.src().subspan(1), [&](UOp r) { return load.dependsOn(r); });
  }

  bool hasRows(const Access& load, UOp reduce, UOp axis) const {
    return std::ranges::any_of(c_.facts().axes, [&](const Axis& row) {
      return row.nest == Nest::Output && row.range != axis && axisType(row.range) == AxisType::Loop &&
             maxExtent(row.range) >= parameters::kWorthPanel && reduce.dependsOn(row.range) &&
             !load.node.dependsOn(row.range) && !fillsStage(c_.facts(), row.range);
    });
  }

  // Adds the best lanes of every reduce and stage whose value has none yet.
  std::vector<Lanes> withReduces(std::vector<Lanes> lanes) const {
    for (UOp n : c_.facts().nodes) {
      if (n.op() != Op::Reduce && n.op() != Op::Stage) continue;
      if (n.op() == Op::Reduce && !mayReassociate(c_.caps, n.dtype())) continue;
      if (std::ranges::any_of(lanes, [&](const Lanes& l) { return n.src(0).dependsOn(l.range); })) continue;
      if (std::ranges::any_of(n.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Vector; })) continue;
      addBest(n, lanes);
    }
    return lanes;
  }

  void addBest(UOp closer, std::vector<Lanes>& lanes) const {
    std::vector<Lanes> best = lanes;
    double cost = model_.instructions(lanes);
    for (UOp r : closer.src().subspan(1)) {
      if (r.op() != Op::Range || axisType(r) == AxisType::Dot || !clashFree(r, lanes)) continue;
      for (int64_t w : widthsFor(r, model_.fullWidth(r))) {
        std::vector<Lanes> more = lanes;
        more.push_back({r, w});
        if (double other = model_.instructions(more); other < parameters::kClearlyLess * cost)
          best = more, cost = other;
      }
    }
    lanes = best;
  }

  // Two reduces over one loop share its lanes; no value may then have two lane axes.
  bool clashFree(UOp range, const std::vector<Lanes>& lanes) const {
    for (UOp n : c_.facts().nodes)
      if (n.dependsOn(range))
        for (const Lanes& l : lanes)
          if (n.dependsOn(l.range)) return false;
    return true;
  }

  const Chooser& c_;
  const CostModel& model_;
  std::vector<uint32_t> laidOut_;  // slots
};

}  // namespace

LanePlan chooseLanes(const Chooser& chooser) {
  CostModel model(chooser.facts(), chooser.caps);
  return LaneChoice(chooser, model).best();
}

}  // namespace svod
