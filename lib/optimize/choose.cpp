#include "optimize/choose.h"

#include <algorithm>
#include <cmath>

#include "optimize/chooser.h"
#include "optimize/cost.h"
#include "optimize/legality.h"
#include "optimize/operand_opts.h"
#include "optimize/replay.h"
#include "optimize/strides.h"

namespace svod {

bool Chooser::apply(OptKind kind, OptArgs args, std::string why) {
  OptOp opt{kind, std::move(args)};
  Result<UOp> changed = applyOpt(graph, sink, opt, caps);
  if (!changed) return false;
  sink = *changed;
  opts.push_back({std::move(opt), std::move(why)});
  return true;
}

int32_t Chooser::numberOf(uint32_t rangeId) const {
  std::vector<Axis> axes = axesOf(sink);
  auto at = std::ranges::find_if(axes, [&](const Axis& a) { return idOf(a.range) == rangeId; });
  return at == axes.end() ? -1 : static_cast<int32_t>(at - axes.begin());
}

bool Chooser::apply(OptKind kind, uint32_t rangeId, int64_t amount, std::string why) {
  int32_t number = numberOf(rangeId);
  return number >= 0 && apply(kind, AxisAmount{number, amount}, std::move(why));
}

UOp Chooser::range(uint32_t rangeId) const {
  int32_t number = numberOf(rangeId);
  return number < 0 ? UOp() : axesOf(sink)[static_cast<size_t>(number)].range;
}

namespace {

// Whether a or b is used for anything but addresses of parameters.
bool countersAreValues(UOp sink, UOp a, UOp b) {
  std::vector<bool> seen;
  std::vector<UOp> stack{sink};
  while (!stack.empty()) {
    UOp n = stack.back();
    stack.pop_back();
    if (n.id() < seen.size() && seen[n.id()]) continue;
    if (n.id() >= seen.size()) seen.resize(n.id() + 1);
    seen[n.id()] = true;
    if (n == a || n == b) return true;
    bool closer = n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Stage;
    for (UOp s : n.src()) {
      if (closer && s.op() == Op::Range) continue;
      if (n.op() == Op::Index && s != n.src(0)) continue;
      stack.push_back(s);
    }
  }
  return false;
}

bool walksAsOne(UOp sink, UOp a, UOp b) {
  std::optional<int64_t> inner = constExtent(b);
  if (!inner || countersAreValues(sink, a, b)) return false;
  for (const Access& access : accessesOf(sink)) {
    for (UOp n : toposort(access.address))
      if (n.op() == Op::Load && (n.dependsOn(a) || n.dependsOn(b))) return false;
    auto x = strideOf(access, a), y = strideOf(access, b);
    if (!x || !y || *x != *y * *inner) return false;
  }
  return true;
}

bool mergeOnce(Chooser& c) {
  std::vector<Axis> axes = axesOf(c.sink);
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    if (axes[i].nest != axes[i + 1].nest || axes[i].nest == Nest::Stage) continue;
    auto number = static_cast<int32_t>(i);
    if (walksAsOne(c.sink, axes[i].range, axes[i + 1].range) &&
        c.apply(OptKind::Merge, AxisList{{number, number + 1}}, "every access walks both as one loop"))
      return true;
  }
  return false;
}

}  // namespace

void mergeLoops(Chooser& c) {
  while (mergeOnce(c)) {
  }
}

bool isGated(UOp stage) {
  return std::ranges::any_of(toposort(stage.src(0)), [](UOp n) { return n.op() == Op::Load && n.srcCount() > 2; });
}

namespace {

double instructionsOf(const Chooser& c) {
  return CostModel(c.sink, c.caps).instructions(lanesOf(c.sink));
}

// Instructions to fill a local buffer once, in vectors.
double fillCost(const Chooser& c, UOp stage) {
  constexpr double kPlain = 4, kGated = 12;
  return (isGated(stage) ? kGated : kPlain) * static_cast<double>(stageBytes(stage)) / c.caps.vectorBytes;
}

// At least `least` iterations per part such that the last part repeats few of the one before; 0 for no split.
int64_t evenPart(int64_t extent, int64_t least) {
  constexpr double kRepeated = 1.04;
  for (int64_t parts = extent / least; parts > 1; --parts) {
    int64_t part = (extent + parts - 1) / parts;
    if (static_cast<double>(part * parts) <= kRepeated * static_cast<double>(extent)) return part;
  }
  return 0;
}

// Iterations one tile needs so that what does not depend on `axis` is not computed too often: 1 when
// everything does, 0 when the axis cannot be split over tiles, or need not be.
int64_t iterationsPerTile(const Chooser& c, UOp axis, int64_t tiles) {
  constexpr double kWorthRefill = 8;  // times the work of a fill
  const bool areShared = tiles % c.caps.workers == 0;
  double refills = 0;
  bool copiesWindows = false;
  for (UOp n : toposort(c.sink)) {
    if ((n.op() != Op::Reduce && n.op() != Op::Stage) || n.dependsOn(axis)) continue;
    const bool inLanes = std::ranges::any_of(n.ranges(), [](UOp r) { return axisType(r) == AxisType::Vector; });
    if (n.op() == Op::Reduce && !inLanes && hasGroups(c.sink)) continue;  // bytes of a row: once per panel anyway
    if (n.op() == Op::Reduce) return 0;
    refills += fillCost(c, n);
    copiesWindows |= isGated(n);
    if (areShared && (isGated(n) || tiles >= 2 * c.caps.workers)) return 0;  // equal shares already
  }
  if (refills == 0) return 1;
  if (!constExtent(axis) && tiles > 1) return 0;  // a part of a loop that may be short is computed whole
  int64_t wanted = (copiesWindows ? 2 : 4) * c.caps.workers, extent = maxExtent(axis);
  double perIteration = instructionsOf(c) / static_cast<double>(extent * tiles);
  auto worth = static_cast<int64_t>(std::ceil(kWorthRefill * refills / std::max(perIteration, 1.0)));
  int64_t iterations = std::max({int64_t{1}, worth, extent * tiles / wanted});
  return tiles < wanted ? evenPart(extent, iterations) : 0;
}

}  // namespace

void splitForThreads(Chooser& c) {
  constexpr double kWorthThreads = 20'000;  // nanoseconds of work below which one thread is faster
  const double work = nanoseconds(instructionsOf(c));
  if (!c.caps.threads || work < kWorthThreads) return;
  const std::string why = "about " + std::to_string(std::llround(work / 1000)) + " us of work to share";
  const int64_t wanted = std::max(4 * c.caps.workers, 64);
  for (int64_t tiles = 1; tiles < wanted;) {
    std::vector<Axis> axes =
        axesOf(c.sink);  // after the first thread axis the next is the outermost loop left
    auto at = std::ranges::find_if(axes, [](const Axis& a) {
      return a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && maxExtent(a.range) > 1;
    });
    if (at == axes.end()) return;
    int64_t extent = maxExtent(at->range), iterations = iterationsPerTile(c, at->range, tiles);
    if (iterations == 0) return;
    if (!c.apply(OptKind::Thread, AxisAmount{static_cast<int32_t>(at - axes.begin()), iterations}, why)) return;
    tiles *= (extent + iterations - 1) / iterations;
    if (iterations > 1) return;
  }
}

void streamOutputs(Chooser& c) {
  for (const Access& a : accessesOf(c.sink)) {
    if (!a.isStore || !a.slot) continue;
    UOp param = storageOf(a.node.src(0));
    const bool isLarge = param.src(0).isConst() && param.maxNumel() >= c.caps.l3Bytes / byteSize(param.dtype());
    if (isLarge && storesVectors(c.sink, *a.slot))
      c.apply(OptKind::Stream, ParamSlot{*a.slot}, "larger than the last cache, so written past it");
  }
}

void fillGrid(Chooser& c) {
  const bool multiplies = useTensorCore(c);  // before axes are merged: a tile takes some of one operand alone
  auto outputs = [&] {
    std::vector<int32_t> numbers;
    std::vector<Axis> axes = axesOf(c.sink);
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].nest == Nest::Output && axisType(axes[i].range) == AxisType::Loop)
        numbers.push_back(static_cast<int32_t>(i));
    return numbers;
  };
  while (outputs().size() > 3 &&
         c.apply(OptKind::Merge, AxisList{{outputs()[0], outputs()[1]}}, "a grid has three axes")) {
  }
  std::vector<int32_t> grid = outputs();
  if (grid.empty() || !c.apply(OptKind::Global, AxisList{grid}, "results do not depend on each other")) return;
  if (multiplies) return;
  for (int64_t threads : {256, 128, 64, 32, 16, 8})
    if (threads <= maxExtent(axesOf(c.sink)[static_cast<size_t>(grid.back())].range) &&
        c.apply(OptKind::Local, AxisAmount{grid.back(), threads}, "neighbours in one workgroup"))
      return;
}

Choice choose(Graph& graph, UOp sink, const Caps& caps) {
  Chooser c{graph, sink, caps, {}};
  bool serial =
      std::ranges::any_of(axesOf(sink), [](const Axis& a) { return axisType(a.range) == AxisType::Serial; });
  if (!serial) splitGroups(c);
  const Pattern pattern = patternOf(c.sink);
  if (!serial) mergeLoops(c);
  if (caps.workgroups) {
    fillGrid(c);
  } else {
    if (!serial) tileForVectors(c);
    splitForThreads(c);
    streamOutputs(c);
    if (!serial) prefetchOperands(c, pattern), prefetchCopies(c);
  }
  return {pattern, std::move(c.opts)};
}

std::vector<OptOp> optsOf(const Choice& choice) {
  std::vector<OptOp> opts;
  for (const ChosenOpt& chosen : choice.opts) opts.push_back(chosen.opt);
  return opts;
}

std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps) { return optsOf(choose(graph, sink, caps)); }

}  // namespace svod
