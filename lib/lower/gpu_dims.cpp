#include "lower/gpu_dims.h"

#include <algorithm>
#include <string>

#include "ir/gpu_op.h"
#include "ir/ranges.h"
#include "ir/workgroup.h"
#include "lower/rings.h"
#include "lower/spread.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool isGrid(UOp range) { return axisType(range) == AxisType::Global; }
bool isWarp(UOp range) { return axisType(range) == AxisType::Warp; }
bool isGroup(UOp range) { return isThread(range) || isWarp(range); }

std::vector<UOp> rangesWhere(UOp sink, bool (*wanted)(UOp)) {
  std::vector<UOp> found;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && wanted(n)) found.push_back(n);
  std::sort(found.begin(), found.end(), [](UOp a, UOp b) { return a.argAs<AxisArg>().id < b.argAs<AxisArg>().id; });
  return found;
}

uint32_t firstFreeId(UOp sink) {
  uint32_t next = 0;
  for (UOp r : rangesWhere(sink, [](UOp) { return true; })) next = std::max(next, r.argAs<AxisArg>().id + 1);
  return next;
}

// What each work item fills for itself is its own: in memory of the group the items would overwrite each other.
UOp keepPrivate(Graph& g, UOp sink) {
  std::vector<UOp> from, to;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Fill || std::ranges::none_of(n.ranges(), isGroup)) continue;
    UOp shared = storageOf(n.src(0).src(0));
    from.push_back(shared);
    to.push_back(g.buffer(shared.dtype(), shared.src(), {shared.argAs<SlotArg>().slot, Space::Reg}));
  }
  return from.empty() ? sink : substitute(g, sink, from, to);
}

/// Ranges of threads along which a reduction is left to the shuffles that expansion makes.
std::vector<UOp> shuffledReduces(UOp sink) {
  std::vector<UOp> found;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Reduce || n.srcCount() < 2) continue;
    std::vector<UOp> threads;
    for (UOp r : n.src().subspan(1))
      if (isThread(r)) threads.push_back(r);
    if (threads.size() == 1 && isShuffled(sink, threads[0])) found.push_back(threads[0]);
  }
  return found;
}

}  // namespace

UOp shareGroupReduces(Graph& g, UOp sink, const GpuTarget& gpu) {
  const std::vector<UOp> shuffled =
      hasGpuOp("shuffle_xor", gpu.family, gpu.generation) ? shuffledReduces(sink) : std::vector<UOp>{};
  sink = keepPrivate(g, sink);
  uint32_t nextId = firstFreeId(sink), nextSlot = 0;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Buffer) nextSlot = std::max(nextSlot, n.argAs<SlotArg>().slot + 1);
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::Reduce || same.srcCount() < 2) return same;
    std::vector<UOp> shared, own, loops;
    for (UOp r : same.src().subspan(1)) (axisType(r) == AxisType::Group ? shared : own).push_back(r);
    if (shared.empty() || std::ranges::find(shuffled, shared[0]) != shuffled.end()) return same;
    Op op = same.argAs<ReduceArg>().op;
    UOp partial = own.empty() ? same.src(0) : g.reduceRanges(op, same.src(0), own);
    for (UOp r : shared) loops.push_back(g.range(r.src(0), nextId++, AxisType::Reduce));
    std::vector<UOp> closed, at;
    const auto add = [&](std::initializer_list<AxisType> types) {
      for (UOp r : same.ranges())
        if (std::ranges::find(types, axisType(r)) != types.end()) closed.push_back(r), at.push_back(r);
    };
    // Neighbours of a workgroup are neighbours in memory: elements of a thread are the outermost, lanes the innermost.
    add({AxisType::Core, AxisType::Upcast, AxisType::Unroll});
    add({AxisType::Local});
    closed.insert(closed.end(), shared.begin(), shared.end()), at.insert(at.end(), loops.begin(), loops.end());
    add({AxisType::Warp});
    add({AxisType::Vector});
    UOp fill = g.fill(partial, closed, nextSlot++);
    return g.reduceRanges(op, g.load(g.indexRowMajor(fill, closed, at)), loops);
  });
}

namespace {

/// Which hardware dimensions a list of axes uses: `dims[0]` is x. An axis is read back by div and mod.
struct Mapping {
  std::vector<UOp> extents;            // per hardware dimension, x first
  std::vector<std::vector<UOp>> axes;  // axes of each, outermost first
};

// Axes that stand in one list are one dimension.
Result<Mapping> mapAxes(Graph& g, std::vector<std::vector<UOp>> axes, const std::array<int64_t, 3>& limits,
                        std::string_view what) {
  Mapping m;
  std::reverse(axes.begin(), axes.end());  // the last axis is x
  for (const std::vector<UOp>& joined : axes) {
    UOp extent = g.index(1);
    for (UOp axis : joined) extent = g.alu(Op::Mul, {extent, axis.src(0)});
    m.extents.push_back(simplify(g, extent));
    m.axes.push_back(joined);
  }
  auto joined = [&](size_t i) { return simplify(g, g.alu(Op::Mul, {m.extents[i], m.extents[i + 1]})); };
  const auto join = [&](size_t i) {  // with the one outside of it
    m.extents[i] = joined(i);
    m.axes[i].insert(m.axes[i].begin(), m.axes[i + 1].begin(), m.axes[i + 1].end());
    m.extents.erase(m.extents.begin() + static_cast<long>(i) + 1);
    m.axes.erase(m.axes.begin() + static_cast<long>(i) + 1);
  };
  while (m.extents.size() > 3) {  // the neighbours with the smallest product
    size_t best = 0;
    for (size_t i = 1; i + 1 < m.extents.size(); ++i)
      if (joined(i).bounds().max < joined(best).bounds().max) best = i;
    join(best);
  }
  for (size_t i = m.extents.size(); i-- > 1;)  // x has the most room
    if (m.extents[i].bounds().max > limits[i]) join(i - 1);
  for (size_t i = 0; i < m.extents.size(); ++i)
    if (m.extents[i].bounds().max > limits[i])
      return fail(Diag::Unsupported,
                  std::string(what) + " dimension " + std::to_string(i) + " has " +
                      std::to_string(m.extents[i].bounds().max) + " entries, the device takes " +
                      std::to_string(limits[i]),
                  "split the axis with opts so that each part fits");
  return m;
}

std::vector<std::vector<UOp>> each(std::span<const UOp> axes) {
  std::vector<std::vector<UOp>> lists;
  for (UOp axis : axes) lists.push_back({axis});
  return lists;
}

void readBack(Graph& g, const Mapping& m, std::string_view prefix, std::vector<UOp>& from, std::vector<UOp>& to) {
  for (size_t dim = 0; dim < m.extents.size(); ++dim) {
    std::string name = std::string(prefix) + std::to_string(dim);
    UOp flat = g.make(Op::Special, DType::Index, {m.extents[dim]}, VarArg{name, 0, 0});
    for (size_t i = m.axes[dim].size(); i-- > 0;) {
      UOp axis = m.axes[dim][i];
      from.push_back(axis);
      to.push_back(i == 0 ? flat : simplify(g, g.alu(Op::Floormod, {flat, axis.src(0)})));
      flat = simplify(g, g.alu(Op::Floordiv, {flat, axis.src(0)}));
    }
  }
}

/// Stores that do not depend on a thread index are done once: by thread 0 of that index.
UOp gateOnce(Graph& g, UOp store, std::span<const UOp> threads) {
  UOp gate = store.srcCount() == 3 ? store.src(2) : UOp();
  UOp base = behindAliases(store.src(0).src(0));
  if (base.op() == Op::Buffer && base.argAs<SlotArg>().space == Space::Reg) return store;
  for (UOp thread : threads) {
    if (store.src(0).dependsOn(thread)) continue;
    UOp first = g.alu(Op::Eq, {thread, g.index(0)});
    gate = gate ? g.alu(Op::And, {gate, first}) : first;
  }
  return gate ? g.make(Op::Store, DType::Void, {store.src(0), store.src(1), gate}) : store;
}

bool isLocalBuffer(UOp n) { return n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Local; }

/// A loop that fills a Local buffer anew in every iteration ends with a Barrier: the slowest thread has read it by
/// then.
UOp guardRefills(Graph& g, UOp sink) {
  std::vector<UOp> refilling;  // ranges of loops around a Barrier
  for (UOp n : toposort(sink))
    if (n.op() == Op::Barrier) refilling.insert(refilling.end(), n.ranges().begin(), n.ranges().end());
  auto refills = [&](UOp r) { return std::find(refilling.begin(), refilling.end(), r) != refilling.end(); };
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::End || std::none_of(src.begin() + 1, src.end(), refills)) return same;
    auto inner = src.end();  // loops inside of the innermost that refills
    while (!refills(*(inner - 1))) --inner;
    std::vector<UOp> closed{src[0]}, around{UOp()};
    closed.insert(closed.end(), inner, src.end()), around.insert(around.end(), src.begin() + 1, inner);
    UOp body = closed.size() == 1 ? src[0] : g.make(Op::End, DType::Void, closed);
    around[0] = g.make(Op::Group, DType::Void, {body, g.make(Op::Barrier, DType::Void, {body})});
    return g.make(Op::End, DType::Void, around);
  });
}

}  // namespace

Result<UOp> lowerGpuDims(Graph& g, UOp sink, const GpuLimits& limits) {
  std::vector<UOp> grid = rangesWhere(sink, isGrid), group = rangesWhere(sink, isGroup), from, to;
  if (grid.empty() && group.empty()) return dealSpreads(g, keepRings(g, sink), {});
  std::vector<std::vector<UOp>> threads = each(rangesWhere(sink, isThread));
  if (std::vector<UOp> lanes = rangesWhere(sink, isWarp); !lanes.empty()) threads.push_back(lanes);  // x counts lanes
  std::vector<UOp> inOrder;
  for (const std::vector<UOp>& joined : threads) inOrder.insert(inOrder.end(), joined.begin(), joined.end());
  sink = dealSpreads(g, keepRings(g, sink), inOrder);
  SVOD_TRY(Mapping gridMap, mapAxes(g, each(grid), limits.grid, "grid"));
  SVOD_TRY(Mapping groupMap, mapAxes(g, std::move(threads), limits.group, "workgroup"));
  sink = transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    return same.op() == Op::Store ? gateOnce(g, same, group) : same;
  });
  readBack(g, gridMap, "gidx", from, to);
  readBack(g, groupMap, "lidx", from, to);
  sink = transform(g, sink, [&](UOp node, std::span<const UOp> src) -> UOp {
    for (size_t i = 0; i < from.size(); ++i)
      if (node == from[i]) return to[i];
    if (node.op() == Op::End) {
      std::vector<UOp> left{src[0]};
      for (UOp r : src.subspan(1))
        if (r.op() == Op::Range) left.push_back(r);
      return left.size() == 1 ? src[0] : g.make(Op::End, DType::Void, left);
    }
    if (node.op() == Op::After) {  // accumulator scopes may name hardware indices: they are no loops
      std::vector<UOp> left{src[0]};
      for (UOp s : src.subspan(1))
        if (s.op() == Op::Range || s.dtype() == DType::Void) left.push_back(s);
      if (isLocalBuffer(src[0]) && src[0].argAs<SlotArg>().ring == 0) {
        std::vector<UOp> writes(left.begin() + 1, left.end());
        left = {src[0], g.make(Op::Barrier, DType::Void, writes)};
      }
      return left.size() == 1 ? src[0] : g.make(Op::After, node.dtype(), left);
    }
    return std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
  });
  return simplify(g, guardRefills(g, sink));
}

}  // namespace svod
