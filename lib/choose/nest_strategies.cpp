#include "choose/nest_strategies.h"

#include <algorithm>

#include "choose/case_loops.h"
#include "choose/k_block.h"
#include "choose/lanes.h"
#include "choose/line_sums.h"
#include "choose/output_lanes.h"
#include "choose/reduce_lanes.h"
#include "choose/share_rows.h"
#include "choose/shared_places.h"
#include "choose/shared_sums.h"
#include "choose/stream_lanes.h"
#include "choose/tile_units.h"
#include "choose/transpose_blocks.h"
#include "facts/reduces.h"

namespace svod {

namespace {

bool isTransposed(const KernelFacts& kernel, const LoopNest& nest) {
  return !nest.reduce && kernel.pattern() == Pattern::Transpose;
}
bool hasNoReduce(const KernelFacts&, const LoopNest& nest) { return !nest.reduce; }
bool hasReduceLanes(const KernelFacts&, const LoopNest& nest) {
  return nest.reduce && std::ranges::find(nest.reduce.src(), nest.lanes.range) != nest.reduce.src().end();
}
bool hasOutputLanes(const KernelFacts& kernel, const LoopNest& nest) {
  return nest.reduce && !hasReduceLanes(kernel, nest);
}
/// A block of a sum is no place for a panel that has to hold all of it.
bool mayBlock(const KernelFacts& kernel, const LoopNest& nest) { return hasOutputLanes(kernel, nest) && !nest.packed; }

constexpr Strategy kNestPreparations[] = {
    {"case-loops",
     "a short output loop whose counter selects among values that every iteration computes (the places of a tile of a "
     "Winograd convolution) is written out",
     On::Cpu, LoopOrder::Free, nullptr, always<expandCases>},
    {"shared-places",
     "elements whose place is computed, in a loop that it does not depend on (channels under one grid): that loop "
     "inside "
     "of the others, in blocks",
     On::Cpu, LoopOrder::Free, nullptr, sharePlaces},
    {"share-rows", "transcendental values that two sweeps over a row need are shared (`share`)", On::Cpu,
     LoopOrder::Free, nullptr, always<shareRows>},
};

constexpr NestStrategy kNestStrategies[] = {
    {"transpose-blocks",
     "elements stored in another order than they are read: as many rows as a vector has lanes are "
     "transposed in registers, so that loads and stores both run along lines",
     isTransposed, always<blockTransposed>},
    {"stream-lanes",
     "loops without a reduction: lanes, and a few vectors per iteration, of short loops within others all; where "
     "runs of results lie across lanes, two of these runs",
     hasNoReduce, always<widenStreams>},
    {"reduce-lanes",
     "reductions along what is contiguous: partial sums in lanes, several independent accumulators that "
     "hide the latency of one",
     hasReduceLanes, always<tileReduceLanes>},
    {"tile-units",
     "matrix products in groups (`dot`) on a processor with tile units (AMX): two by two tiles share what they load, "
     "and a panel of columns is packed as the unit reads it (`tc`)",
     hasOutputLanes, multiplyInTiles},
    {"line-sums",
     "sums under windows of their own (depthwise convolutions, pools) over pictures whose size only a run knows: lanes "
     "along a line, and a loop over the lines of a window that are there",
     hasOutputLanes, sumByLines},
    {"turned-terms",
     "sums of few terms that are neighbours in memory, while lanes are not: all terms are written out, and blocks of "
     "them are transposed in registers",
     hasOutputLanes, turnTerms},
    {"k-block-rows",
     "few rows times a matrix larger than half of the second level cache (GEMV): a few terms at a time "
     "along whole rows of the matrix, as many streams as prefetchers follow; sums wait in memory (`kblock`)",
     mayBlock, blockFewRows},
    {"k-block-panel",
     "matrix products of so many terms that a panel does not stay in the second level cache: `kblock` "
     "around a packed block of it and, where it lies across rows (`A^T B`), a packed block of the other "
     "operand",
     mayBlock, blockTallPanel},
    {"output-lanes",
     "sums with lanes along an output loop: the register tile with the least cycles per result, by loads, lines of "
     "cache and arithmetic; in matrix products columns outside of rows, panels packed when row tiles read them again",
     hasOutputLanes, always<tileOutputLanes>},
};

// Runs the first strategy that the nest has.
void chooseNest(Chooser& c, const LoopNest& nest) {
  std::vector<const NestStrategy*> fitting;
  for (const NestStrategy& strategy : kNestStrategies)
    if (strategy.fits(c.facts(), nest)) fitting.push_back(&strategy);
  for (const NestStrategy* strategy : fitting) {
    Chooser trial = c;
    if (!strategy->run(trial, nest)) continue;
    if (strategy != fitting.back() && trial.branches.decide(Branch::NextNest, false)) continue;
    return c.keep(std::move(trial));
  }
}

void giveLanes(Chooser& c, const LanePlan& plan) {
  for (const Lanes& l : plan.lanes)
    if (UOp range = c.range(idOf(l.range)))  // as earlier opts left it
      chooseNest(c, {deepestReduceOf(c.facts(), range), {range, l.width}, plan.packed});
}

bool hasPacked(const Chooser& c, uint32_t slot) {
  return std::ranges::any_of(c.opts, [&](const ChosenOpt& chosen) {
    const auto* pack = std::get_if<PackArgs>(&chosen.opt.args);
    return chosen.opt.kind == OptKind::Pack && pack != nullptr && pack->slot == slot;
  });
}

/// Whether the last vector along the loop has lanes to spare.
bool leavesIdle(const Lanes& lanes) { return constExtent(lanes.range) && maxExtent(lanes.range) % lanes.width != 0; }

/// Whether this seed of a product with weights is the one whose lanes run along another loop than those of this plan.
bool avoidsLanes(Chooser& c, const LanePlan& plan) {
  const bool hasOthers = c.pattern() == Pattern::Gemm && !c.laidOut().empty() && !plan.lanes.empty();
  return hasOthers && !c.branches.decide(Branch::Lanes, true, leavesIdle(plan.lanes[0]));
}

}  // namespace

std::span<const Strategy> nestPreparations() { return kNestPreparations; }
std::span<const NestStrategy> nestStrategies() { return kNestStrategies; }

bool chooseNests(Chooser& c) {
  runAll(nestPreparations(), c);
  LanePlan plan = chooseLanes(c, Panels::Any);
  const UOp avoided = avoidsLanes(c, plan) ? plan.lanes[0].range : UOp();
  if (avoided) plan = chooseLanes(c, Panels::Any, avoided);
  Chooser trial = c;
  giveLanes(trial, plan);
  if (!plan.packed || hasPacked(trial, *plan.packed)) {
    c.keep(std::move(trial));
  } else {
    giveLanes(c, chooseLanes(c, Panels::Free, avoided));  // those lanes do not pay without the panel
  }
  return true;
}

}  // namespace svod
