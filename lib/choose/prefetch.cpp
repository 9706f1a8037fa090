#include "choose/prefetch.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/operand_walks.h"
#include "facts/reduces.h"
#include "opts/operand_opts.h"
#include "support/integers.h"

namespace svod {

namespace {

// Rows that several loops sweep over come from memory in the first of them, which does little else; the next row is
// asked for in one that computes. Streams are asked for a little ahead.
int64_t elementsAhead(const Chooser& c, const Walk& walk, bool isSweptAgain) {
  const int64_t bytes = byteSize(walk.load.node.dtype());
  const UOp rows = isSweptAgain ? nextLoop(walk.load, *strideOf(walk.load, walk.loop) + 1) : UOp();
  const int64_t row = rows ? *strideOf(walk.load, rows) : 0;
  return row > 0 && row * bytes <= c.caps.l2Bytes / 4 ? row : parameters::kAheadBytes / bytes;
}

void prefetchOperand(Chooser& c, uint32_t slot, std::vector<Walk> walks) {
  std::erase_if(walks, [&](const Walk& walk) { return walk.load.slot != slot; });
  auto chosen = std::ranges::find_if_not(walks, [&](const Walk& walk) { return isReduceLoop(c.facts(), walk.loop); });
  if (chosen == walks.end()) --chosen;
  const bool isSweptAgain = std::ranges::any_of(walks, [&](const Walk& other) { return other.loop != chosen->loop; });
  const int64_t ahead = elementsAhead(c, *chosen, isSweptAgain);
  const std::string why =
      isSweptAgain ? "the next row comes from memory while this one is computed" : "comes from memory";
  c.apply(OptKind::Prefetch, SlotAxisAmount{slot, c.numberOf(idOf(chosen->loop)), ahead}, why);
}

// A copy that is read in runs too short for hardware to look ahead, and again for every block of results: more than the
// first level cache keeps.
void prefetchCopy(Chooser& c, const Access& load, uint32_t slot) {
  const std::optional<Sweep> found = sweepOf(c.facts(), load);
  if (!found) return;
  if (!found->isInRuns || found->all * byteSize(load.node.dtype()) <= c.caps.l1Bytes / 2) return;
  const SlotAxisAmount ahead{slot, c.numberOf(idOf(found->loop)), found->stride};
  attempt(c, [&](Chooser& trial) {
    return trial.apply(OptKind::Prefetch, ahead, "short runs from the second level cache") &&
           prefetchesVectors(trial.sink, slot);
  });
}

// Whether two panels stay near, that of a tile and the one beside it: runs far apart compete for places of a cache.
bool areTwoNear(const Sweep& sweep, int64_t run, int64_t elementBytes, const Caps& caps) {
  const double apart = static_cast<double>(sweep.apart * elementBytes), line = static_cast<double>(caps.lineBytes);
  const double lines = std::ceil(static_cast<double>(run * elementBytes) / line);
  const double rows = static_cast<double>(sweep.all) / static_cast<double>(std::max<int64_t>(sweep.apart, 1)) + 1;
  return isResident(2 * rows * lines * line * crowding(apart, rows, lines, placesIn(Level::L2, caps), caps), caps);
}

// Columns of a product beside those of the register tile, which the next tile reads; where they would be gone by then,
// those of the tile itself in the next rows.
void prefetchNextColumns(Chooser& c, const Access& load) {
  const std::optional<Sweep> found = sweepOf(c.facts(), load);
  const int64_t bytes = byteSize(load.node.dtype());
  if (!found || !found->isInRuns || found->all * bytes <= c.caps.l1Bytes) return;
  const int64_t run = runOf(load);
  const bool areNext = std::ranges::any_of(load.node.ranges(), [&](UOp r) {
    const std::optional<Pace> pace = paceOf(load, r);  // the last tile may begin earlier
    return !isReduceLoop(c.facts(), r) && pace && pace->first == run && maxExtent(r) > 1;
  });
  if (!areNext) return;
  if (!isVector(c.facts(), load)) {  // each row is in a line of its own, which hardware does not see coming
    const int64_t ahead = parameters::kScalarRowsAhead * found->apart;
    c.apply(OptKind::Prefetch, SlotAxisAmount{*load.slot, c.numberOf(idOf(found->loop)), ahead},
            "a line for each row, which another core may have written");
    return;
  }
  const bool areInTime = areTwoNear(*found, run, bytes, c.caps);
  const SlotAxisAmount ahead{*load.slot, c.numberOf(idOf(found->loop)),
                             areInTime ? run : parameters::kRowsAhead * found->apart};
  attempt(c, [&](Chooser& trial) {
    return trial.apply(OptKind::Prefetch, ahead,
                       areInTime ? "short runs, of which the next tile reads those beside them"
                                 : "short runs, far apart: those of the next rows") &&
           prefetchesVectors(trial.sink, *load.slot);
  });
}

// Lines of weights that one step of the innermost loop reads: they stand in the order in which it does.
int64_t linesOfStep(const Access& load, const Caps& caps) {
  int64_t elements = 1;
  for (UOp r : load.node.src(0).ranges())
    if (isExpanded(axisType(r)) && axisType(r) != AxisType::Unroll) elements *= maxExtent(r);
  return ceilDiv(elements * byteSize(load.node.dtype()), caps.lineBytes);
}

// How often the loops over results come back to the same weights before they go on to others.
int64_t sweepsOver(const Chooser& c, const Access& load) {
  const std::span<const UOp> own = load.node.src(0).ranges();
  int64_t sweeps = 1;
  for (const Axis& axis : c.facts().axes) {
    if (axis.nest != Nest::Output || maxExtent(axis.range) == 1) continue;
    sweeps = std::ranges::find(own, axis.range) != own.end() ? 1 : sweeps * maxExtent(axis.range);
  }
  return sweeps;
}

}  // namespace

void prefetchColumns(Chooser& c) {
  if (c.pattern() != Pattern::Gemm || hasTiles(c.facts())) return;
  std::vector<Access> loads;
  for (const Access& a : c.facts().accesses)  // weights stand in the order in which they are read
    if (!a.isStore && a.slot && nextLoop(a, 1) && !c.isLaidOut(*a.slot)) loads.push_back(a);
  for (const Access& load : loads) prefetchNextColumns(c, load);
}

void prefetchWeights(Chooser& c) {
  if (hasTiles(c.facts())) return;     // a tile unit loads many lines at once
  std::map<uint32_t, Access> weights;  // by slot
  for (const Access& a : c.facts().accesses)
    if (!a.isStore && a.slot && c.isLaidOut(*a.slot)) weights.emplace(*a.slot, a);
  for (const auto& [slot, load] : weights) {
    const std::optional<Sweep> sweep = sweepOf(c.facts(), load);
    const int64_t bytes = byteSize(load.node.dtype());
    if (!sweep || storageOf(load.node.src(0)).maxNumel() * bytes <= c.caps.l1Bytes) continue;
    if (linesOfStep(load, c.caps) > parameters::kCheapLines && sweepsOver(c, load) > parameters::kSweepsAhead) continue;
    c.apply(OptKind::Prefetch, SlotAxisAmount{slot, c.numberOf(idOf(sweep->loop)), parameters::kAheadBytes / bytes},
            "weights of a network are in no near cache when a run comes to them");
  }
}

void prefetchCopies(Chooser& c) {
  if (hasTiles(c.facts())) return;  // read in rows side by side, which hardware sees coming
  for (const Access& a : c.facts().accesses) {
    UOp storage = storageOf(a.node.src(0)), param = storage.op() == Op::Fill ? copiedBy(storage) : UOp();
    if (param && !a.isStore) prefetchCopy(c, a, param.argAs<SlotArg>().slot);
  }
}

void prefetchOperands(Chooser& c) {
  if (const Pattern pattern = c.pattern(); pattern != Pattern::Streaming && pattern != Pattern::RowReduce) return;
  std::map<uint32_t, UOp> params;  // by slot
  const std::vector<Walk> walks = walksOf(c.facts());
  for (const Walk& walk : walks) params.emplace(*walk.load.slot, storageOf(walk.load.node.src(0)));
  for (const auto& [slot, param] : params)
    if (param.maxNumel() > c.caps.l2Bytes / byteSize(param.dtype())) prefetchOperand(c, slot, walks);
}

}  // namespace svod
