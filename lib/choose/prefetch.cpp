#include "choose/prefetch.h"

#include <algorithm>
#include <map>

#include "cost/parameters.h"
#include "facts/accesses.h"
#include "opts/operand_opts.h"

namespace svod {

namespace {

// A load of neighbours, and the loop that walks on from there.
struct Walk {
  Access load;
  UOp loop;
};

bool isLoop(UOp r) { return !isExpanded(axisType(r)); }

// The loop with the smallest positive stride from `least` on; null when there is none.
UOp nextLoop(const Access& load, int64_t least) {
  UOp best;
  for (UOp r : load.node.src(0).ranges()) {
    const int64_t stride = strideOf(load, r).value_or(0);
    if (isLoop(r) && stride >= least && (!best || stride < *strideOf(load, best))) best = r;
  }
  return best;
}

std::vector<Walk> walksOf(const KernelFacts& kernel) {
  std::vector<Walk> walks;
  const std::vector<Lanes> lanes = kernel.lanes;
  for (const Access& a : kernel.accesses) {
    const bool isVector = std::ranges::any_of(lanes, [&](const Lanes& l) { return strideOf(a, l.range) == 1; });
    if (a.isStore || !a.slot || !isVector) continue;
    if (UOp loop = nextLoop(a, 1)) walks.push_back({a, loop});
  }
  return walks;
}

bool isReduceLoop(const KernelFacts& kernel, UOp loop) {
  return std::ranges::any_of(kernel.closersOf(loop), [](UOp c) { return c.op() == Op::Reduce; });
}

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

// How a reduce reads a buffer.
struct Sweep {
  UOp loop;               // its loop with the largest stride
  int64_t stride = 0;     // of that loop, as the next, in elements
  int64_t all = 1;        // what the reduce reaches
  bool isInRuns = false;  // short ones, with gaps between them
};

std::optional<Sweep> sweepOf(const KernelFacts& kernel, const Access& load) {
  Sweep sweep;
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, number of them
  for (UOp r : load.node.src(0).ranges()) {
    const int64_t stride = strideOf(load, r).value_or(0);
    if (isLoop(r) && !isReduceLoop(kernel, r)) continue;
    steps.emplace_back(stride, maxExtent(r) - 1);
    if (isLoop(r) && stride > sweep.stride) sweep.loop = r, sweep.stride = stride;
  }
  if (!sweep.loop) return std::nullopt;
  std::ranges::sort(steps);
  for (const auto& [stride, count] : steps) {
    sweep.isInRuns |= stride >= 2 * sweep.all;
    sweep.all += stride * count;
  }
  return sweep;
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

}  // namespace

void prefetchCopies(Chooser& c) {
  for (const Access& a : c.facts().accesses) {
    UOp storage = storageOf(a.node.src(0)), param = storage.op() == Op::Stage ? copiedBy(storage) : UOp();
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
