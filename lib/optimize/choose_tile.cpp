// Vector axes and register tiles.
#include <algorithm>
#include <bit>

#include "optimize/chooser.h"
#include "optimize/cost.h"
#include "optimize/strides.h"

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

// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool fillsStage(UOp sink, UOp range) {
  return std::ranges::any_of(toposort(sink),
                             [&](UOp n) { return n.op() == Op::Stage && n.dependsOn(range); });
}

// The best vector axis for each loop nest, by the cost model.
class LaneChoice {
 public:
  LaneChoice(const Chooser& c, const CostModel& model) : c_(c), model_(model) {}

  std::vector<Lanes> best() const {
    std::vector<Lanes> best = withReduces({});
    double cost = model_.instructions(best);
    for (const Axis& axis : axesOf(c_.sink)) {
      if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop ||
          fillsStage(c_.sink, axis.range))
        continue;
      for (int64_t w : widthsFor(axis.range, model_.fullWidth())) {
        std::vector<Lanes> lanes = withReduces({{axis.range, w}});
        if (double other = model_.instructions(lanes); other < 0.95 * cost) best = lanes, cost = other;
      }
    }
    return best;
  }

 private:
  // Adds the best lanes of every reduce and stage whose value has none yet.
  std::vector<Lanes> withReduces(std::vector<Lanes> lanes) const {
    for (UOp n : toposort(c_.sink)) {
      if (n.op() != Op::Reduce && n.op() != Op::Stage) continue;
      if (n.op() == Op::Reduce && !mayReassociate(c_.caps, n.dtype())) continue;
      if (std::ranges::any_of(lanes, [&](const Lanes& l) { return n.src(0).dependsOn(l.range); })) continue;
      addBest(n, lanes);
    }
    return lanes;
  }

  void addBest(UOp closer, std::vector<Lanes>& lanes) const {
    std::vector<Lanes> best = lanes;
    double cost = model_.instructions(lanes);
    for (UOp r : closer.src().subspan(1)) {
      if (r.op() != Op::Range || !clashFree(r, lanes)) continue;
      for (int64_t w : widthsFor(r, model_.fullWidth())) {
        std::vector<Lanes> more = lanes;
        more.push_back({r, w});
        if (double other = model_.instructions(more); other < 0.95 * cost) best = more, cost = other;
      }
    }
    lanes = best;
  }

  // Two reduces over one loop share its lanes; no value may then have two lane axes.
  bool clashFree(UOp range, const std::vector<Lanes>& lanes) const {
    for (UOp n : toposort(c_.sink))
      if (n.dependsOn(range))
        for (const Lanes& l : lanes)
          if (n.dependsOn(l.range)) return false;
    return true;
  }

  const Chooser& c_;
  const CostModel& model_;
};

/// Copies of the values of a loop body: `rows` along another output axis, `vectors` along the vector axis.
struct RegisterTile {
  UOp rowAxis;  // null: one row
  int64_t rows = 1, vectors = 1;
};

// What one step of the innermost loop of a reduce (or of a store without reduce) does with lanes along one
// axis.
class TileChoice {
 public:
  TileChoice(const Chooser& c, UOp reduce, Lanes lanes) : c_(c), reduce_(reduce), lanes_(lanes) {
    std::vector<Access> all = accessesOf(c.sink);
    for (UOp n : toposort(reduce.src(0))) {
      bool inside = std::ranges::any_of(reduce.src().subspan(1), [&](UOp r) { return n.dependsOn(r); });
      if (!inside) continue;
      auto access = std::ranges::find(all, n, &Access::node);
      if (access != all.end())
        loads_.push_back(*access);
      else
        arithmetic_ += opWeight(n);
    }
    // A product joins the addition into one instruction.
    if (c.caps.numerics != Numerics::Strict && reduce.src(0).op() == Op::Mul) arithmetic_ -= 1;
    arithmetic_ += 1;
  }

  RegisterTile best() const {
    RegisterTile best;
    double bestCost = cost(best);
    for (const RegisterTile& tile : candidates())
      if (double other = cost(tile); other < 0.98 * bestCost) best = tile, bestCost = other;
    return best;
  }

 private:
  std::vector<RegisterTile> candidates() const {
    std::vector<RegisterTile> all;
    std::vector<UOp> rowAxes{UOp()};
    for (const Axis& axis : axesOf(c_.sink))
      if (axis.nest == Nest::Output && axis.range != lanes_.range && reduce_.src(0).dependsOn(axis.range) &&
          axisType(axis.range) == AxisType::Loop && maxExtent(axis.range) > 1 && isReusedAlong(axis.range))
        rowAxes.push_back(axis.range);
    for (int64_t vectors : {1, 2, 3, 4, 5, 6, 7, 8})
      for (UOp axis : rowAxes)
        for (int64_t rows : {1, 2, 3, 4, 5, 6, 8, 10, 12, 14})
          if ((rows > 1) == static_cast<bool>(axis) && fits(axis, rows, vectors))
            all.push_back({axis, rows, vectors});
    std::ranges::stable_sort(all, {},
                             [](const RegisterTile& t) { return std::pair(t.rows * t.vectors, -t.rows); });
    return all;
  }

  // More rows make sense where they use the same element.
  bool isReusedAlong(UOp axis) const {
    return !fillsStage(c_.sink, axis) &&
           std::ranges::any_of(loads_, [&](const Access& a) { return !a.node.dependsOn(axis); });
  }

  // Accumulators and what is loaded for one row must stay in registers with some to spare, and no part may be
  // empty.
  bool fits(UOp axis, int64_t rows, int64_t vectors) const {
    int64_t steps = (maxExtent(lanes_.range) + lanes_.width - 1) / lanes_.width,
            registers = c_.caps.vectorRegisters;
    if (vectors > steps || (axis && rows > maxExtent(axis))) return false;
    return rows * vectors + vectors + 1 <= registers && rows * vectors <= registers * 5 / 8 + 2;
  }

  static double useful(int64_t extent, int64_t part) {
    int64_t blocks = (extent + part - 1) / part;
    double share = static_cast<double>(extent) / static_cast<double>(blocks * part);
    return extent % part == 0 ? 1 : 0.97 * share;
  }

  // Cycles per useful vector of the tile: arithmetic, load ports or latency, whichever is most, and what
  // memory and the loop add. An element shared by all lanes comes from a matrix that is streamed again for
  // every column tile; a vector comes from a panel in the second level cache, or across cache lines.
  double cost(const RegisterTile& t) const {
    constexpr double kPortCycles = 0.5, kMemoryCycles = 0.5, kLoopCycles = 1;
    double loads = 0, copies = static_cast<double>(t.rows * t.vectors);
    for (const Access& load : loads_) {
      double n = load.node.dependsOn(lanes_.range) ? static_cast<double>(t.vectors) : 1;
      if (t.rowAxis && load.node.dependsOn(t.rowAxis)) n *= static_cast<double>(t.rows);
      loads += n;
    }
    double work = std::max(arithmetic_, 1.0) * copies / c_.caps.fmaPerCycle;
    double cycles = std::max({work, loads * kPortCycles, static_cast<double>(c_.caps.fmaLatency)});
    cycles += loads * kMemoryCycles + kLoopCycles;
    double share = t.rowAxis ? useful(maxExtent(t.rowAxis), t.rows) : 1;
    share *= useful((maxExtent(lanes_.range) + lanes_.width - 1) / lanes_.width, t.vectors);
    return cycles / (copies * share);
  }

  const Chooser& c_;
  UOp reduce_;
  Lanes lanes_;
  std::vector<Access> loads_;
  double arithmetic_ = 0;
};

// The two operands of a matrix product as the tile sees them.
struct Panel {
  uint32_t slot;
  std::vector<UOp> reduceAxes;  // the ones the panel operand depends on, outermost first
  int64_t elementBytes, rowStride;
};

// The operand that is contiguous along the lanes and the same for all rows: reused by every row tile.
std::optional<Panel> panelOperand(const Chooser& c, UOp reduce, const Lanes& lanes, UOp rowAxis) {
  std::vector<Access> all = accessesOf(c.sink);
  for (const Access& a : all) {
    if (a.isStore || !a.node.dependsOn(lanes.range) || a.node.dependsOn(rowAxis) ||
        strideOf(a, lanes.range) != 1)
      continue;
    bool only = std::ranges::count_if(all, [&](const Access& o) { return o.slot == a.slot; }) == 1;
    std::vector<UOp> axes;
    int64_t stride = 0;
    for (UOp r : reduce.src().subspan(1)) {
      if (!a.node.dependsOn(r)) continue;
      auto step = strideOf(a, r);
      if (!step) return std::nullopt;
      axes.push_back(r), stride = *step;
    }
    if (only && !axes.empty()) return Panel{a.slot, axes, byteSize(a.node.dtype()), stride};
  }
  return std::nullopt;
}

// Worth it when many row tiles read the panel again and its rows are far apart in memory.
bool paysToPack(const Chooser& c, const Panel& panel, int64_t columns, int64_t rowTiles) {
  double bytes = static_cast<double>(panel.elementBytes * columns);
  for (UOp r : panel.reduceAxes) bytes *= static_cast<double>(maxExtent(r));
  return rowTiles >= 16 && panel.rowStride * panel.elementBytes >= 256 &&
         bytes <= static_cast<double>(c.caps.l2Bytes) / 2;
}

// The lanes' loop goes outside of the rows' loop, so that one column panel serves all rows.
void columnsOutside(Chooser& c, uint32_t column, uint32_t row) {
  int32_t j = c.numberOf(column), i = c.numberOf(row);
  if (i >= 0 && i < j) c.apply(OptKind::Order, AxisList{{j, i}});
}

// Packs the panel between the column loop and the row loop; the loop inside of the column tile carries the
// lanes then.
uint32_t packPanel(Chooser& c, const Panel& panel, uint32_t column, uint32_t row, int64_t columns) {
  std::vector<uint32_t> reduceIds;
  for (UOp r : panel.reduceAxes) reduceIds.push_back(idOf(r));
  if (!c.apply(OptKind::Tile, column, columns)) return column;
  uint32_t inner = idOf(axesOf(c.sink)[static_cast<size_t>(c.numberOf(column)) + 1].range);
  columnsOutside(c, column, row);
  PackArgs args{panel.slot, {}};
  for (uint32_t id : reduceIds) args.axes.push_back(c.numberOf(id));
  args.axes.push_back(c.numberOf(inner));
  c.apply(OptKind::Pack, args);
  return inner;
}

void unrollInnermost(Chooser& c, UOp reduce, int64_t copies) {
  UOp last = reduce.src().back();
  std::optional<int64_t> extent = constExtent(last);
  if (axisType(last) != AxisType::Reduce || !extent) return;
  for (int64_t n : {*extent, int64_t{4}, int64_t{2}})
    if (n > 1 && n <= 8 && *extent % n == 0 && n * copies <= (n == *extent ? 64 : 16) &&
        c.apply(OptKind::Unroll, idOf(last), n))
      return;
}

void tileReduceOverOutputLanes(Chooser& c, UOp reduce, const Lanes& lanes) {
  RegisterTile tile = TileChoice(c, reduce, lanes).best();
  uint32_t column = idOf(lanes.range);
  if (tile.rowAxis) {
    uint32_t row = idOf(tile.rowAxis);
    int64_t rowTiles = (maxExtent(tile.rowAxis) + tile.rows - 1) / tile.rows,
            columns = tile.vectors * lanes.width;
    std::optional<Panel> panel =
        patternOf(c.sink) == Pattern::Gemm ? panelOperand(c, reduce, lanes, tile.rowAxis) : std::nullopt;
    std::vector<uint32_t> panelLoops;
    if (panel && maxExtent(lanes.range) > columns && paysToPack(c, *panel, columns, rowTiles)) {
      column = packPanel(c, *panel, column, row, columns);
      for (const Axis& axis : axesOf(c.sink))
        if (axis.nest == Nest::Stage) panelLoops.push_back(idOf(axis.range));
    } else if (panel) {
      columnsOutside(c, column, row);
    }
    c.apply(OptKind::Upcast, row, tile.rows);
    if (!panelLoops.empty() && c.apply(OptKind::Vector, panelLoops.back(), lanes.width) && tile.vectors > 1)
      c.apply(OptKind::Upcast, panelLoops.back(), tile.vectors);
  }
  c.apply(OptKind::Vector, column, lanes.width);
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors);
  for (UOp n : toposort(c.sink))  // the reduce as it is now
    if (n.op() == Op::Reduce && !n.src(0).ranges().empty() && n.dependsOn(c.range(column)))
      return unrollInnermost(c, n, tile.rows * tile.vectors);
}

// Lanes along the reduce axis itself: several independent accumulators hide the latency of one chain.
void tileReduceLanes(Chooser& c, UOp reduce, const Lanes& lanes) {
  RegisterTile tile = TileChoice(c, reduce, lanes).best();
  if (tile.rowAxis) c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows);
  if (!c.apply(OptKind::Vector, idOf(lanes.range), lanes.width) || tile.vectors < 2) return;
  c.apply(OptKind::Acc, idOf(lanes.range), tile.vectors);
}

// A few vectors per iteration of a loop without reduce, where that leaves no remainder.
void widenStreams(Chooser& c, const Lanes& lanes) {
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width);
  double weight = 0;
  for (UOp n : toposort(c.sink)) weight += n.dependsOn(c.range(idOf(lanes.range))) ? opWeight(n) : 0;
  std::optional<int64_t> extent = constExtent(lanes.range);
  if (!extent || *extent % lanes.width != 0 || weight > 32) return;
  for (int64_t n : {4, 2})
    if (*extent / lanes.width % n == 0 && *extent / lanes.width / n >= 4 &&
        c.apply(OptKind::Upcast, idOf(lanes.range), n))
      return;
}

// Loads that walk down columns use the whole of each cache line when several rows are done at once.
void blockTransposed(Chooser& c, const Lanes& lanes) {
  constexpr int64_t kRows = 8;
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width);
  for (const Access& a : accessesOf(c.sink))
    for (const Axis& axis : axesOf(c.sink))
      if (!a.isStore && axis.nest == Nest::Output && strideOf(a, axis.range) == 1 &&
          idOf(axis.range) != idOf(lanes.range) && maxExtent(axis.range) >= kRows &&
          c.apply(OptKind::Upcast, idOf(axis.range), kRows))
        return;
}

// The reduce inside of the most loops among those whose value depends on `range`; null when there is none.
UOp deepestReduce(UOp sink, UOp range) {
  UOp deepest;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Reduce && n.src(0).dependsOn(range))
      if (!deepest || n.src(0).ranges().size() > deepest.src(0).ranges().size()) deepest = n;
  return deepest;
}

int transcendentals(UOp sink) {
  return static_cast<int>(
      std::ranges::count_if(toposort(sink), [](UOp n) { return has(n.op(), Transcend); }));
}

// Keeps expensive values that several sweeps over a row need in a buffer of one row.
void shareRows(Chooser& c) {
  std::vector<Axis> axes = axesOf(c.sink);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].nest != Nest::Output || axisType(axes[i].range) != AxisType::Loop) continue;
    if (maxExtent(axes[i].range) * 8 > c.caps.l2Bytes / 2) continue;
    AxisList list{{static_cast<int32_t>(i)}};
    for (size_t k = i + 1; k < axes.size(); ++k)
      if (axes[k].nest == Nest::Reduce && axes[k].range.src(0) == axes[i].range.src(0))
        list.axes.push_back(static_cast<int32_t>(k));
    if (list.axes.size() < 2) continue;
    Chooser trial = c;
    if (trial.apply(OptKind::Share, list) && transcendentals(trial.sink) < transcendentals(c.sink)) {
      c.sink = trial.sink, c.opts = trial.opts;
      return;
    }
  }
}

}  // namespace

void tileForVectors(Chooser& c) {
  shareRows(c);
  std::vector<Lanes> chosen = LaneChoice(c, CostModel(c.sink, c.caps)).best();
  for (const Lanes& l : chosen) {
    Lanes lanes{c.range(idOf(l.range)), l.width};  // as earlier opts left it
    if (!lanes.range) continue;
    UOp reduce = deepestReduce(c.sink, lanes.range);
    if (!reduce)
      patternOf(c.sink) == Pattern::Transpose ? blockTransposed(c, lanes) : widenStreams(c, lanes);
    else if (std::ranges::find(reduce.src(), lanes.range) != reduce.src().end())
      tileReduceLanes(c, reduce, lanes);
    else
      tileReduceOverOutputLanes(c, reduce, lanes);
  }
}

}  // namespace svod
