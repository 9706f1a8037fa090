#include "choose/grid_rows.h"

#include <algorithm>
#include <array>

#include "choose/grid.h"
#include "choose/shared_sums.h"
#include "cost/parameters.h"
#include "facts/reduces.h"
#include "facts/row_kernel.h"
#include "ir/gpu_op.h"

namespace svod {

namespace {

using namespace parameters;

constexpr int64_t kWarp = kWarpLanes, kLineBytes = 128;

bool isOf(UOp loop, std::initializer_list<AxisType> types) {
  return std::ranges::find(types, axisType(loop)) != types.end();
}

/// Neighbours along `loop` that one access of each operand moves; 1 where they are none, or not aligned.
int64_t lanesAlong(const Chooser& c, UOp loop) {
  int64_t lanes = 0;
  for (const Access& a : c.facts().accesses) {
    if (!a.address.dependsOn(loop)) continue;
    const DType dtype = a.node.src(0).dtype();
    const int64_t most = info(dtype).bits < 8 ? 1 : std::min<int64_t>(8, kAccessBytes / byteSize(dtype));
    lanes = togetherAlong(a, loop, lanes == 0 ? most : std::min(lanes, most));
  }
  return std::max<int64_t>(1, lanes);
}

/// Bytes of an element of the widest operand.
int64_t widestLoad(const Chooser& c) {
  int64_t bytes = 1;
  for (const Access& a : c.facts().accesses)
    if (!a.isStore && a.slot) bytes = std::max<int64_t>(bytes, byteSize(a.node.src(0).dtype()));
  return bytes;
}

void vectorize(Chooser& c, uint32_t loop) {
  if (const int64_t lanes = lanesAlong(c, c.range(loop)); lanes > 1)
    c.apply(OptKind::Vector, loop, lanes, "one access for " + std::to_string(lanes) + " neighbours");
}

/// The loop of a reduction along which some operand is contiguous, or else the innermost one.
UOp sweptLoop(const KernelFacts& kernel, UOp reduce) {
  UOp innermost = reduce.src(reduce.srcCount() - 1);
  for (UOp r : reduce.src().subspan(1))
    for (const Access& a : kernel.accesses)
      if (!a.isStore && isOf(r, {AxisType::Reduce}) && strideOf(a, r) == 1) return r;
  return innermost;
}

std::vector<uint32_t> sweeps(const KernelFacts& kernel) {
  std::vector<uint32_t> loops;
  for (UOp reduce : loopedReduces(kernel)) {
    const bool isInner = std::ranges::any_of(reduce.ranges(), [](UOp r) { return isOf(r, {AxisType::Reduce}); });
    UOp loop = sweptLoop(kernel, reduce);
    if (!isInner && isOf(loop, {AxisType::Reduce}) && std::ranges::find(loops, idOf(loop)) == loops.end())
      loops.push_back(idOf(loop));
  }
  return loops;
}

/// Whether what the sums read most of lies along their terms. What is read again for every column, such as the vector
/// that a matrix is multiplied with, does not decide.
bool sweepsAlongLargest(const KernelFacts& kernel) {
  const Access* largest = nullptr;
  const auto sizeOf = [](const Access& a) { return storageOf(a.node.src(0)).maxNumel(); };
  std::vector<UOp> terms;
  for (UOp reduce : loopedReduces(kernel)) terms.insert(terms.end(), reduce.src().begin() + 1, reduce.src().end());
  for (const Access& a : kernel.accesses) {
    const bool isRead = !a.isStore && a.slot && dependsOnAny(a.address, terms);
    if (isRead && (!largest || sizeOf(a) > sizeOf(*largest))) largest = &a;
  }
  return !largest || std::ranges::any_of(terms, [&](UOp r) { return strideOf(*largest, r) == 1; });
}

/// Output loops on which some reduction depends, and the others; outermost first.
std::pair<std::vector<UOp>, std::vector<UOp>> rowsAndColumns(const KernelFacts& kernel) {
  std::vector<UOp> rows, columns;
  const std::vector<UOp> reduces = loopedReduces(kernel);
  for (const Axis& a : kernel.axes) {
    if (a.nest != Nest::Output) continue;
    const bool isOfRow = std::ranges::any_of(reduces, [&](UOp r) { return r.dependsOn(a.range); });
    (isOfRow ? rows : columns).push_back(a.range);
  }
  return {rows, columns};
}

int64_t most(const Chooser& c) { return std::min<int64_t>(kGpuRowThreads, c.caps.maxLocal); }

/// How often threads come back to a loop.
int64_t turnsOf(const Chooser& c, uint32_t loop) {
  const UOp range = c.range(loop);
  return range ? maxExtent(range) : 1;
}

void unrollUpTo(Chooser& c, uint32_t loop, int64_t most) {
  for (int64_t steps = most; steps > 1; steps /= 2)
    if (c.range(loop) && maxExtent(c.range(loop)) % steps == 0 && maxExtent(c.range(loop)) > 1 &&
        c.apply(OptKind::Unroll, loop, steps, "several loads under way"))
      return;
}

/// All of what a thread has of a row, where that stays in its registers; else some of it.
void unrollRest(Chooser& c, uint32_t loop, int64_t lanes = kGpuKeptOfRow) {
  const int64_t turns = turnsOf(c, loop);
  if (turns > 4 && turns * lanes <= kGpuKeptOfRow && c.apply(OptKind::Unroll, loop, turns, "all loads under way"))
    return;
  unrollUpTo(c, loop, 4);
}

/// What the sums read of a row, and made of it, is there when its results are computed, if these are the same elements.
void keepRow(Chooser& c, const std::vector<uint32_t>& loops, uint32_t column, int64_t lanes) {
  const int64_t turns = turnsOf(c, column);
  const bool isRead = std::ranges::all_of(loops, [&](uint32_t loop) { return turnsOf(c, loop) == 1; });
  if (isRead && turns > 1 && turns * lanes <= kGpuKeptOfRow)
    c.apply(OptKind::Upcast, column, turns, "what was read for the sums is kept");
}

}  // namespace

bool sharesReads(const KernelFacts& kernel) { return static_cast<bool>(loopOfSharedReads(kernel, kGpuShortSum)); }

bool sumInThreads(Chooser& c) {
  constexpr int64_t kThreads = 128;
  const UOp shared = loopOfSharedReads(c.facts(), kGpuShortSum);
  for (UOp reduce : loopedReduces(c.facts()))
    if (reduce.srcCount() != 2) return false;
  if (!c.apply(OptKind::Upcast, idOf(shared), maxExtent(shared), "results that read the same elements")) return false;
  for (UOp reduce : loopedReduces(c.facts())) unrollUpTo(c, idOf(reduce.src(1)), 4);
  std::vector<uint32_t> outputs;
  for (const Axis& a : c.facts().axes)
    if (a.nest == Nest::Output && isOf(a.range, {AxisType::Loop}) && maxExtent(a.range) > 1)
      outputs.push_back(idOf(a.range));
  for (; outputs.size() > 1 && maxExtent(c.range(outputs.back())) < kThreads; outputs.pop_back()) {
    const uint32_t outer = outputs[outputs.size() - 2], inner = outputs.back();
    if (!c.apply(OptKind::Merge, AxisList{{c.numberOf(outer), c.numberOf(inner)}}, "neighbours in one workgroup"))
      break;
  }
  if (!outputs.empty())
    if (const int64_t threads = std::min(kThreads, powerBelow(maxExtent(c.range(outputs.back())))); threads > 1)
      c.apply(OptKind::Local, outputs.back(), threads, "neighbours in one workgroup");
  return fillGrid(c);
}

bool reduceRows(Chooser& c) {
  const std::vector<uint32_t> loops = sweeps(c.facts());
  auto [rows, columns] = rowsAndColumns(c.facts());
  if (loops.empty() || (c.pattern() == Pattern::Gemv && !sweepsAlongLargest(c.facts()))) return false;
  int64_t longest = 1;
  for (uint32_t loop : loops) longest = std::max(longest, maxExtent(c.range(loop)) / lanesAlong(c, c.range(loop)));
  if (longest < kGpuShortestRow) return false;
  const int64_t threads =
      longest <= kWarp ? powerBelow(longest) : std::clamp(powerBelow(longest / kGpuRowSteps), kWarp, most(c));
  const int64_t together =
      rows.empty() ? 1 : std::min(powerBelow(std::max<int64_t>(1, maxExtent(rows.back()))), most(c) / 2 / threads);
  if (together > 1) c.apply(OptKind::Local, idOf(rows.back()), together, "several short rows in a workgroup");
  for (uint32_t loop : loops) {
    const int64_t lanes = lanesAlong(c, c.range(loop));
    vectorize(c, loop);
    const bool isShared = c.apply(OptKind::Group, loop, std::min(threads, powerBelow(maxExtent(c.range(loop)))),
                                  "neighbours share a row");
    if (!isShared && loop == loops[0]) return false;
    unrollRest(c, loop, columns.empty() ? kGpuKeptOfRow : lanes);
  }
  if (!columns.empty()) {
    const uint32_t column = idOf(columns.back());
    const int64_t lanes = lanesAlong(c, c.range(column));
    vectorize(c, column);
    c.apply(OptKind::Local, column, std::min(threads, powerBelow(maxExtent(c.range(column)))),
            "the same threads write it");
    keepRow(c, loops, column, lanes);
  }
  fillGrid(c);
  return true;
}

bool reduceColumns(Chooser& c) {
  const std::vector<uint32_t> loops = sweeps(c.facts());
  auto [rows, columns] = rowsAndColumns(c.facts());
  if (loops.empty() || rows.empty()) return false;
  const uint32_t column = idOf(rows.back());
  // A warp reads a line: of small elements, a lane reads several.
  const int64_t together =
      std::min(lanesAlong(c, rows.back()), std::max<int64_t>(1, kLineBytes / kWarp / widestLoad(c)));
  if (together > 1 && maxExtent(rows.back()) % together == 0)
    c.apply(OptKind::Vector, column, together, "lanes of a warp read a line");
  const int64_t width = std::min(kWarp, powerBelow(maxExtent(c.range(column))));
  int64_t results = 1;
  for (UOp r : rows) results *= std::max<int64_t>(1, maxExtent(r));
  const int64_t deepest = results < width * c.caps.workers ? most(c) / width : kGpuColumnThreads;
  for (uint32_t loop : loops) {
    const int64_t deep = std::min(powerBelow(std::max<int64_t>(1, maxExtent(c.range(loop)) / 4)), most(c) / width);
    if (deep > 1) c.apply(OptKind::Group, loop, std::min(deep, deepest), "rows of threads share a column");
    unrollUpTo(c, loop, kGpuLoadsOfColumn);
  }
  if (width > 1 && !c.apply(OptKind::Local, column, width, "columns side by side")) return false;
  fillGrid(c);
  return true;
}

bool holdRowsInGroups(Chooser& c) {
  const std::optional<RowKernel> held = rowKernelOf(c.facts());
  if (!held) return false;
  const uint32_t column = idOf(held->column);
  const int64_t threads =
      std::min({int64_t{128}, int64_t{c.caps.maxLocal}, powerBelow(std::max<int64_t>(1, maxExtent(held->column)))});
  if (threads < kGpuShortestRow) return false;
  for (UOp fill : c.facts().fills) {
    const UOp first = fill.src(1);
    if (c.numberOf(idOf(first)) >= 0) c.apply(OptKind::Spread, idOf(first), 1, "all threads fill a row");
  }
  for (UOp reduce : loopedReduces(c.facts())) {
    const UOp loop = reduce.src(reduce.srcCount() - 1);
    if (!reduce.dependsOn(c.range(column)) && reduce.ranges().size() == c.facts().closersOf(loop)[0].ranges().size())
      c.apply(OptKind::Group, idOf(loop), threads, "the threads of a row share its sweep");
  }
  if (!c.apply(OptKind::Local, column, threads, "columns of the result")) return false;
  fillGrid(c);
  return true;
}

namespace {

/// Of a transpose: the loops along which its operand and its result are contiguous, and what lies there.
struct Turned {
  const Access *load = nullptr, *store = nullptr;
  UOp along, across;
};

Turned turnedIn(const KernelFacts& kernel) {
  Turned t;
  for (const Access& s : kernel.accesses)
    for (const Axis& b : kernel.axes)
      if (s.isStore && b.nest == Nest::Output && strideOf(s, b.range) == 1) t.store = &s, t.across = b.range;
  for (const Access& l : kernel.accesses)
    for (const Axis& a : kernel.axes)
      if (t.store && !l.isStore && l.slot && a.range != t.across && a.nest == Nest::Output &&
          strideOf(l, a.range) == 1 && l.address.dependsOn(t.across))
        t.load = &l, t.along = a.range;
  return t;
}

int64_t bytesOf(const Access& a) { return byteSize(a.node.src(0).dtype()); }

/// Elements of a row of a tile that is a line of memory, or as many as the loop has; fewer where tiles would be few.
constexpr int64_t kLeastSide = 32;
int64_t sideOf(UOp loop, int64_t bytes, bool isSmall) {
  return isSmall ? kLeastSide
                 : std::clamp(kLineBytes / bytes, kLeastSide, std::max(kLeastSide, powerBelow(maxExtent(loop))));
}

}  // namespace

bool transposeInTiles(Chooser& c) {
  const auto [load, store, along, across] = turnedIn(c.facts());
  if (!load || maxExtent(along) < kLeastSide || maxExtent(across) < kLeastSide) return false;
  const uint32_t slot = *load->slot;
  const int64_t area = sideOf(along, bytesOf(*load), false) * sideOf(across, bytesOf(*store), false);
  const bool isSmall = storageOf(store->node.src(0)).maxNumel() < area * c.caps.workers;
  const int64_t rows = sideOf(along, bytesOf(*load), isSmall), columns = sideOf(across, bytesOf(*store), isSmall),
                together = std::min<int64_t>(columns, kAccessBytes / bytesOf(*store));
  const uint32_t a = c.constantTile(idOf(along), rows, "a line of the operand"),
                 b = c.constantTile(idOf(across), columns, "a line of the result"),
                 run = c.innerOfTile(b, together, "neighbours of the result");
  std::vector<AxisRef> order;
  for (const Axis& axis : c.facts().axes)
    if (axis.nest == Nest::Output && !std::ranges::count(std::array{a, b, run}, idOf(axis.range)))
      order.push_back(c.numberOf(idOf(axis.range)));
  for (uint32_t loop : {a, b, run}) order.push_back(c.numberOf(loop));
  if (!std::ranges::is_sorted(order, {}, &AxisRef::number) &&
      !c.apply(OptKind::Order, AxisList{order}, "tiles inside of the grid"))
    return false;
  // Rows that lanes side by side read follow each other: swizzled, their banks differ.
  if (!c.apply(OptKind::Pack, PackArgs{slot, {c.numberOf(run), c.numberOf(b), c.numberOf(a)}},
               "read along one axis, written along the other"))
    return false;
  const uint32_t first = idOf(c.madeCopy(c.range(run)));
  const UOp fill = c.facts().closersOf(c.range(first))[0];
  c.apply(OptKind::Swizzle, first, rows * byteSize(fill.dtype()), "columns in different banks");
  for (int64_t width = kAccessBytes / byteSize(fill.dtype()); width >= 1; width /= 2)
    if (c.apply(OptKind::Spread, first, width, "all threads copy")) break;
  const int64_t pieces = columns / together, below = std::min({rows, most(c) / pieces, c.caps.maxLocal / pieces});
  if (!c.apply(OptKind::Upcast, run, together, "neighbours are written at once") ||
      !c.apply(OptKind::Local, a, below, "rows of a tile") ||
      !c.apply(OptKind::Local, b, pieces, "and by neighbouring threads"))
    return false;
  if (maxExtent(c.range(a)) > 1) c.apply(OptKind::Upcast, a, maxExtent(c.range(a)), "several loads under way");
  return fillGrid(c);
}

bool streamInVectors(Chooser& c) {
  std::vector<UOp> outputs;
  for (const Axis& a : c.facts().axes)
    if (a.nest == Nest::Output && isOf(a.range, {AxisType::Loop})) outputs.push_back(a.range);
  if (outputs.empty() || c.facts().hasSerial()) return false;
  const uint32_t inner = idOf(outputs.back());
  vectorize(c, inner);
  const int64_t left = maxExtent(c.range(inner)), threads = std::min(most(c), powerBelow(std::max<int64_t>(1, left)));
  if (outputs.size() > 1 && threads < most(c)) {  // before the loop whose threads count fastest
    const uint32_t outer = idOf(outputs[outputs.size() - 2]);
    const int64_t more = std::min(most(c) / threads, powerBelow(std::max<int64_t>(1, maxExtent(c.range(outer)))));
    if (more > 1) c.apply(OptKind::Local, outer, more, "several rows in a workgroup");
  }
  if (threads > 1 && !c.apply(OptKind::Local, inner, threads, "neighbours in one workgroup")) return false;
  for (UOp reduce : loopedReduces(c.facts())) unrollRest(c, idOf(reduce.src(reduce.srcCount() - 1)));
  const int64_t groups = maxExtent(c.range(inner));
  if (groups % 4 == 0 && groups >= 4 * 8 * c.caps.workers)
    c.apply(OptKind::Upcast, inner, 4, "several loads under way");
  return fillGrid(c);
}

}  // namespace svod
