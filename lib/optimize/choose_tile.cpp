// Applies what the lanes and the register tile of a kernel are to be.
#include <algorithm>

#include "optimize/chooser.h"
#include "optimize/constant_layout.h"
#include "optimize/cost.h"
#include "optimize/strides.h"

namespace svod {

bool isLaidOut(const Chooser& c, uint32_t slot) {
  return std::ranges::find(c.caps.constants, slot) != c.caps.constants.end() && readingOrder(c.graph, c.sink, slot);
}

bool fillsStage(UOp sink, UOp range) {
  return std::ranges::any_of(toposort(sink),
                             [&](UOp n) { return n.op() == Op::Stage && n.dependsOn(range); });
}

UOp loopInside(const Chooser& c, uint32_t loop) { return axesOf(c.sink)[static_cast<size_t>(c.numberOf(loop)) + 1].range; }

uint32_t innerOfTile(Chooser& c, uint32_t loop, int64_t amount, std::string why) {
  if (maxExtent(c.range(loop)) <= amount || !c.apply(OptKind::Tile, loop, amount, std::move(why))) return loop;
  return idOf(loopInside(c, loop));
}

std::optional<Panel> panelOf(const Access& load, UOp reduce) {
  if (!load.slot) return std::nullopt;
  Panel panel{*load.slot, {}, byteSize(load.node.dtype()), byteSize(load.node.dtype()), 0};
  for (UOp r : reduce.src().subspan(1)) {
    if (!load.node.dependsOn(r)) continue;
    if (axisType(r) == AxisType::Dot) {  // beside its column
      panel.bytesPerColumn *= maxExtent(r);
      continue;
    }
    std::optional<int64_t> step = strideOf(load, r);
    if ((!step && !sumsGroups(reduce)) || axisType(r) != AxisType::Reduce) return std::nullopt;
    panel.reduceAxes.push_back(r), panel.rowStride = step.value_or(0);
    if (__builtin_mul_overflow(panel.bytesPerColumn, maxExtent(r), &panel.bytesPerColumn))
      return std::nullopt;
  }
  return panel.reduceAxes.empty() ? std::nullopt : std::optional(panel);
}

std::optional<Panel> panelOperand(const Chooser& c, UOp reduce, const Lanes& lanes, UOp rowAxis,
                                  std::optional<uint32_t> slot) {
  std::vector<Access> all = accessesOf(c.sink);
  for (const Access& a : all) {
    if (a.isStore || !a.node.dependsOn(lanes.range) || a.node.dependsOn(rowAxis)) continue;
    if (!a.slot || (slot ? a.slot != *slot : strideOf(a, lanes.range) != 1 && !isLaidOut(c, *a.slot))) continue;
    if (std::ranges::count(all, a.slot, &Access::slot) == 1) return panelOf(a, reduce);
  }
  return std::nullopt;
}

namespace {

// Groups of a dot product: rows are interleaved, where columns are neighbours in the operand; else groups are copied.
bool fillGroups(Chooser& c, const Access& load) {
  std::vector<Axis> axes = axesOf(c.sink);
  if (axes.size() < 2 || axes.back().nest != Nest::Stage) return false;
  const UOp group = axes.back().range, column = axes[axes.size() - 2].range;
  const uint32_t groupId = idOf(group), columnId = idOf(column);
  constexpr int64_t kBytes = 16;  // what two-operand shuffles of all CPUs take
  const int64_t lanes = kBytes / byteSize(load.node.dtype());
  if (strideOf(load, column) == 1)
    c.apply(OptKind::Vector, columnId, std::min<int64_t>(lanes, powerBelow(maxExtent(column))), kCopyLanes);
  return c.apply(OptKind::Upcast, groupId, 0, "the copy interleaves what one instruction sums up");
}

}  // namespace

// Where lanes of the panel are not neighbours in the operand, a block of as many rows is transposed in registers.
void vectorizeFill(Chooser& c, uint32_t slot, int64_t width, int64_t vectors) {
  const bool inGroups = hasGroups(c.sink);
  for (const Access& a : accessesOf(c.sink)) {
    if (a.slot != slot || a.isStore) continue;
    if (inGroups) {
      fillGroups(c, a);
      return;
    }
    for (const Axis& axis : axesOf(c.sink)) {
      if (axis.nest != Nest::Stage || strideOf(a, axis.range) != 1) continue;
      UOp last = closersOf(c.sink, axis.range)[0].src().back();
      uint32_t id = idOf(axis.range), lastId = idOf(last);
      if (!c.apply(OptKind::Vector, lastId, width, kCopyLanes)) return;
      if (last != axis.range)
        c.apply(OptKind::Upcast, id, powerBelow(std::min(width, maxExtent(axis.range))),
                "the copy transposes blocks in registers");
      else if (vectors > 1)
        c.apply(OptKind::Upcast, id, vectors, "the copy is as wide as the register tile");
      return;
    }
  }
}

namespace {

// Worth it when many row tiles read the panel again and its rows are far apart in memory; a few are enough where the matrix,
// which has `width` columns, does not stay in the cache.
bool paysToPack(const Chooser& c, const Panel& panel, int64_t columns, int64_t width, int64_t rowTiles) {
  const int64_t least = panel.bytesPerColumn * width > c.caps.l2Bytes / 4 ? 4 : 16;
  return rowTiles >= least && !isLaidOut(c, panel.slot) && panel.rowStride * panel.elementBytes >= 256 &&
         panel.bytesPerColumn * columns <= c.caps.l2Bytes / 2;
}

// What the columns read, if its panels come from far while all that the rows read stays in cache.
std::optional<Access> farPanels(const Chooser& c, UOp column, UOp row) {
  const double stays = static_cast<double>(c.caps.l2Bytes) / 2;
  std::optional<Access> panels;
  for (const Access& a : accessesOf(c.sink)) {
    if (a.isStore || !a.slot) continue;
    if (a.node.dependsOn(row) ? bytesRead(a) > stays : bytesRead(a) > stays && panels) return std::nullopt;
    if (a.node.dependsOn(column) && bytesRead(a) > stays) panels = a;
  }
  return panels;
}

// The lanes' loop goes outside of the rows' loop, so that one column panel serves all rows; where panels are all that comes
// from far, outside of every loop that reads the same ones.
void columnsOutside(Chooser& c, uint32_t column, uint32_t row) {
  const int32_t j = c.numberOf(column), i = c.numberOf(row);
  AxisList order{{j}};
  if (std::optional<Access> panels = farPanels(c, c.range(column), c.range(row))) {
    const std::vector<Axis> axes = axesOf(c.sink);
    int32_t first = j;
    while (first > 0 && !panels->node.dependsOn(axes[static_cast<size_t>(first) - 1].range)) --first;
    for (int32_t k = first; k < j; ++k) order.axes.push_back(k);
  } else if (i >= 0 && i < j) {
    order.axes.push_back(i);
  }
  if (order.axes.size() > 1) c.apply(OptKind::Order, order, kPanelOutside);
}

// The columns of one panel inside of the rows, so that a row of the register tile takes one vector after the other and
// little is held beside the sums. Returns the loop that carries the lanes then: the one inside of the column tile, or the
// columns' loop itself if one tile holds them all.
uint32_t splitColumns(Chooser& c, uint32_t column, uint32_t row, int64_t columns) {
  const uint32_t inner = innerOfTile(c, column, columns, "the columns of one panel");
  if (inner != column) columnsOutside(c, column, row);
  return inner;
}

// Packs the panel between the column loop and the row loop.
uint32_t packPanel(Chooser& c, const Panel& panel, uint32_t column, uint32_t row, int64_t columns) {
  std::vector<uint32_t> reduceIds;
  for (UOp r : panel.reduceAxes) reduceIds.push_back(idOf(r));
  const uint32_t inner = splitColumns(c, column, row, columns);
  PackArgs args{panel.slot, {}};
  for (uint32_t id : reduceIds) args.axes.push_back(c.numberOf(id));
  args.axes.push_back(c.numberOf(inner));
  c.apply(OptKind::Pack, args, "rows that are far apart in memory, copied once for all row tiles");
  return inner;
}

}  // namespace

namespace {

// Terms of one element of the result.
int64_t termsOf(UOp reduce) {
  int64_t terms = 1;
  for (UOp r : reduce.src().subspan(1)) terms *= maxExtent(r);
  return terms;
}

}  // namespace

void tileReduceOverOutputLanes(Chooser& c, UOp reduce, const Lanes& lanes, std::optional<uint32_t> packed) {
  if (!packed && blockReduce(c, reduce, lanes)) return;
  int64_t maxVectors = INT64_MAX;
  for (const Access& a : accessesOf(c.sink))
    if (packed && a.slot == *packed)
      if (std::optional<Panel> panel = panelOf(a, reduce))
        maxVectors = std::max<int64_t>(1, c.caps.l2Bytes / 2 / (panel->bytesPerColumn * lanes.width));
  RegisterTile tile = chooseRegisterTile(c, reduce, lanes, maxVectors);
  if (tile.rowAxis && patternOf(c.sink) == Pattern::Gemm)  // a narrower tile, where that lets the panel stay in cache
    if (std::optional<Panel> panel = panelOperand(c, reduce, lanes, tile.rowAxis, packed)) {
      int64_t fit = std::max<int64_t>(2, c.caps.l2Bytes / 2 / (panel->bytesPerColumn * lanes.width));
      if (fit < tile.vectors) tile = chooseRegisterTile(c, reduce, lanes, fit);
    }
  uint32_t column = idOf(lanes.range);
  if (tile.rowAxis) {
    uint32_t row = idOf(tile.rowAxis);
    int64_t rowTiles = (maxExtent(tile.rowAxis) + tile.rows - 1) / tile.rows,
            columns = tile.vectors * lanes.width;
    const bool isShort = !packed && termsOf(reduce) < 4 * lanes.width;  // writing takes the time: lines as a whole
    bool gemm = (patternOf(c.sink) == Pattern::Gemm && !isShort) || packed;
    std::optional<Panel> panel = gemm ? panelOperand(c, reduce, lanes, tile.rowAxis, packed) : std::nullopt;
    const bool inGroups = panel && sumsGroups(reduce) && !isLaidOut(c, panel->slot);
    const int64_t width = maxExtent(lanes.range);
    const bool pays = panel && width > columns && paysToPack(c, *panel, columns, width, rowTiles);
    std::optional<RowPanel> across;
    if (panel) across = rowPanelOf(c, reduce, lanes, tile, maxExtent(reduce.src(1)), c.caps.scratchBytes / 2);
    if (across) row = innerOfTile(c, row, across->rows, kSharedCopy);
    if (panel && (packed || inGroups || pays)) {
      column = packPanel(c, *panel, column, row, columns);
      vectorizeFill(c, panel->slot, lanes.width, tile.vectors);
    } else if (panel) {
      column = splitColumns(c, column, row, columns);
    }
    if (across) packAcross(c, across->slot, row, idOf(reduce.src(1)), lanes.width);
    c.apply(OptKind::Upcast, row, tile.rows, registersText(c, tile));
  }
  c.apply(OptKind::Vector, column, lanes.width, "along this output loop it takes the fewest instructions");
  if (tile.vectors > 1) c.apply(OptKind::Upcast, column, tile.vectors, registersText(c, tile));
  unrollInnermost(c, reduceOver(c.sink, c.range(column)), tile.rows * tile.vectors);
}

namespace {

// Lanes along the reduce axis itself: several independent accumulators hide the latency of one chain.
void tileReduceLanes(Chooser& c, UOp reduce, const Lanes& lanes) {
  constexpr int64_t kChains = 8;  // independent accumulators that hide any latency
  RegisterTile tile = chooseRegisterTile(c, reduce, lanes, kChains);
  if (tile.rowAxis) c.apply(OptKind::Upcast, idOf(tile.rowAxis), tile.rows, registersText(c, tile));
  constexpr const char* kLanesWhy = "the reduction walks memory in order; lanes are folded at its end";
  if (!c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, kLanesWhy) || tile.vectors < 2) return;
  c.apply(OptKind::Acc, idOf(lanes.range), tile.vectors, "independent sums hide the latency of one");
}

// A few vectors per iteration of a loop without reduce, where that leaves no remainder.
void widenStreams(Chooser& c, const Lanes& lanes) {
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "along this loop it takes the fewest instructions");
  double weight = 0;
  for (UOp n : toposort(c.sink)) weight += n.dependsOn(c.range(idOf(lanes.range))) ? opWeight(n) : 0;
  std::optional<int64_t> extent = constExtent(lanes.range);
  if (!extent || *extent % lanes.width != 0 || weight > 32) return;
  for (int64_t n : {4, 2})
    if (*extent / lanes.width % n == 0 && *extent / lanes.width / n >= 4 &&
        c.apply(OptKind::Upcast, idOf(lanes.range), n, "a cheap body: several vectors per step"))
      return;
}

// Blocks of as many rows as a vector has lanes are transposed in registers, so that loads and stores both run along
// lines.
void blockTransposed(Chooser& c, const Lanes& lanes) {
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "results are stored along their lines");
  for (const Access& a : accessesOf(c.sink))
    for (const Axis& axis : axesOf(c.sink)) {
      bool along = !a.isStore && axis.nest == Nest::Output && strideOf(a, axis.range) == 1 &&
                   idOf(axis.range) != idOf(lanes.range);
      int64_t rows = powerBelow(std::min(lanes.width, maxExtent(axis.range)));
      if (!along || rows < 4 || !c.apply(OptKind::Upcast, idOf(axis.range), rows, "blocks are transposed in registers"))
        continue;
      // Loads run on along their lines, whole lines are stored.
      int32_t load = c.numberOf(idOf(axis.range)), store = c.numberOf(idOf(lanes.range));
      if (load < store) c.apply(OptKind::Order, AxisList{{store, load}}, "loads go on along their lines");
      return;
    }
}

// The reduce inside of the most loops among those whose value depends on `range`; null when there is none.
UOp deepestReduce(UOp sink, UOp range) {
  UOp deepest;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Reduce && n.src(0).dependsOn(range))
      if (!deepest || n.src(0).ranges().size() > deepest.src(0).ranges().size()) deepest = n;
  return deepest;
}

}  // namespace

void tileForVectors(Chooser& c) {
  useDots(c);
  if (packWindows(c) || tileRows(c)) return;
  expandCases(c);
  shareRows(c);
  LanePlan plan = chooseLanes(c);
  for (const Lanes& l : plan.lanes) {
    Lanes lanes{c.range(idOf(l.range)), l.width};  // as earlier opts left it
    if (!lanes.range) continue;
    UOp reduce = deepestReduce(c.sink, lanes.range);
    if (!reduce)
      patternOf(c.sink) == Pattern::Transpose ? blockTransposed(c, lanes) : widenStreams(c, lanes);
    else if (std::ranges::find(reduce.src(), lanes.range) != reduce.src().end())
      tileReduceLanes(c, reduce, lanes);
    else
      tileReduceOverOutputLanes(c, reduce, lanes, plan.packed);
  }
}

}  // namespace svod
