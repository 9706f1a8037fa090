#include "choose/line_sums.h"

#include <algorithm>
#include <ranges>

#include "cost/parameters.h"
#include "opts/gated_sums.h"
#include "support/integers.h"

namespace svod {

namespace {

/// Whether columns beyond an edge cost no more than others.
bool haveMasks(const Chooser& c) {
  return c.caps.maskedBytes > 0 && std::ranges::all_of(c.facts().accesses, [&](const Access& a) {
           return a.isStore || a.node.srcCount() < 3 || byteSize(a.node.dtype()) >= c.caps.maskedBytes;
         });
}

/// Whether each result has elements of its own under its window: no loop over results reads the same ones again.
bool ownsWindows(const Chooser& c) {
  return std::ranges::all_of(c.facts().accesses, [&](const Access& a) {
    if (a.isStore || a.node.srcCount() < 3) return true;
    return std::ranges::all_of(c.facts().axes, [&](const Axis& axis) {
      return axis.nest != Nest::Output || maxExtent(axis.range) == 1 || a.node.dependsOn(axis.range);
    });
  });
}

}  // namespace

bool sumsLines(const Chooser& c, UOp column, int64_t width) {
  if (!haveMasks(c) || !ownsWindows(c)) return false;
  Chooser trial = c;
  return trial.apply(OptKind::Vector, idOf(column), width, "") && hasGatedSums(c.graph, trial.sink, c.caps.numerics);
}

bool sumByLines(Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  if (packed || reduce.srcCount() < 3 || !sumsLines(c, lanes.range, lanes.width)) return false;
  const int64_t vectors = std::min(parameters::kLineVectors, ceilDiv(maxExtent(lanes.range), lanes.width));
  const std::vector<UOp> loops(reduce.src().begin() + 1, reduce.src().end());
  c.apply(OptKind::Vector, idOf(lanes.range), lanes.width, "along a line");
  if (vectors > 1) c.apply(OptKind::Upcast, idOf(lanes.range), vectors, "vectors share weights and the gates of lines");
  for (UOp loop : std::views::reverse(loops)) {
    Chooser trial = c;
    const bool isShort = constExtent(loop) && maxExtent(loop) <= parameters::kTermsOfWindow;
    if (!isShort || !trial.apply(OptKind::Unroll, idOf(loop), maxExtent(loop), "columns of the window") ||
        !hasGatedSums(trial.graph, trial.sink, trial.caps.numerics))
      break;
    c.keep(std::move(trial));
  }
  return true;
}

}  // namespace svod
