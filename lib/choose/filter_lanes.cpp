#include "choose/filter_lanes.h"

#include <algorithm>

#include "choose/copy_lanes.h"
#include "choose/dot_products.h"
#include "choose/unroll.h"
#include "choose/windows.h"
#include "cost/filter_tile.h"
#include "facts/accesses.h"
#include "facts/reduces.h"

namespace svod {

namespace {

// Results in a vector.
int64_t lanesOf(const Chooser& c) { return c.caps.vectorBytes / byteSize(c.facts().reduces[0].dtype()); }

// Weights: what a product reads that depends on filters and taps.
bool areWeightsInLanes(const Chooser& c, const Windows& w) {
  const UOp filter = w.filters.back();
  return std::ranges::all_of(c.facts().accesses, [&](const Access& a) {
    if (a.isStore || !a.node.dependsOn(filter) ||
        std::ranges::none_of(w.taps, [&](UOp r) { return a.node.dependsOn(r); }))
      return true;
    return a.slot && (c.isLaidOut(*a.slot) || strideOf(a, filter) == 1);
  });
}

}  // namespace

bool suitsFilters(const Chooser& c, const Windows& w) {
  const int64_t lanes = lanesOf(c);
  return lanes > 1 && !w.filters.empty() && maxExtent(w.filters.back()) % lanes == 0 && areWeightsInLanes(c, w);
}

bool multiplyFilters(Chooser& c) {
  const Windows w = *windowsToCopy(c.facts(), c.caps);
  if (!w.line || w.filters.empty() || !areWeightsInLanes(c, w)) return false;
  const UOp filter = w.filters.back();
  const int64_t lanes = lanesOf(c);
  if (lanes < 2 || maxExtent(filter) < lanes || (!w.areFixed() && !suitsFilters(c, w))) return false;
  Chooser grouped = c;
  const std::optional<ChannelGroups> groups = w.elementBytes < 4 ? groupChannels(grouped, w) : ChannelGroups{1, 0};
  if (!groups) return false;
  int64_t taps = 1;
  for (UOp r : w.taps) taps *= maxExtent(r);
  const std::optional<FilterTile> tile =
      bestFilterTile({maxExtent(filter), maxExtent(w.column), taps / groups->size, lanes}, c.caps);
  if (!tile) return false;
  const int64_t columns = maxExtent(w.column);
  std::optional<CopiedWindows> copy =
      copyThatStays(grouped, w, constExtent(w.column) ? columns : roundUp(columns, tile->columns));
  if (!copy) return false;
  Chooser& trial = copy->kernel;
  vectorizeWindows(trial, w.slot);
  if (!trial.apply(OptKind::Vector, idOf(filter), lanes, "weights of neighbouring filters are neighbours"))
    return false;
  if (tile->vectors > 1) trial.apply(OptKind::Upcast, idOf(filter), tile->vectors, "vectors share what windows read");
  if (tile->columns > 1)
    trial.apply(OptKind::Upcast, copy->loops.column, tile->columns, "columns share the weights they read");
  unrollInnermost(trial, reduceOver(trial.facts(), trial.range(idOf(filter))), tile->vectors * tile->columns);
  c.keep(std::move(trial));
  return true;
}

}  // namespace svod
