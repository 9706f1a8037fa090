#include "choose/choose.h"

#include <algorithm>
#include <cmath>

#include "choose/seeds.h"
#include "choose/sized_choice.h"
#include "choose/sized_time.h"
#include "cost/kernel_cost.h"
#include "cost/parameters.h"

namespace svod {

namespace {

using parameters::kMargin;

Choice pick(const Chooser& prepared, Seed first) {
  const auto because = [](Seed& seed, std::string why) {
    seed.choice.why = std::move(why);
    return std::move(seed.choice);
  };
  const auto ratioText = [](double ratio) {
    const auto tenths = static_cast<int64_t>(std::llround(ratio * 10));
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
  };
  const bool hasOthers =
      first.branches.any() || std::ranges::any_of(first.candidates.subspan(1), [&](const Strategy& later) {
        return fits(later, prepared.facts(), prepared.caps);
      });
  if (!hasOthers) return because(first, "no other way to run it is known");
  const KernelTime own = timeOf(first, prepared);
  if (own.oneThread < parameters::kWorthPricing)
    return because(first, "the first that fits: too short for predictions to tell");
  const double least = prepared.caps.workgroups ? 0 : leastNanoseconds(prepared.facts(), prepared.caps);
  const bool isNear = own.oneThread <= kMargin * least;
  std::vector<Seed> others = isNear ? seedsPricedAlike(prepared, first) : otherSeeds(prepared, first);
  double best = own.shared, ratio = 1;
  Seed* found = nullptr;
  for (Seed& seed : others) {
    const double other = timeOf(seed, prepared).shared, margin = marginOf(seed, first);
    if (other * margin < best) found = &seed, best = other * margin, ratio = own.shared / other;
  }
  if (found) return because(*found, "expected to be " + ratioText(ratio) + " times as fast as the first that fits");
  if (isNear)
    return because(first,
                   "the first that fits: at " + ratioText(own.oneThread / least) + " times its arithmetic alone");
  return because(first, "the first that fits: no other is expected to be " + ratioText(kMargin) + " times as fast");
}

}  // namespace

namespace {

/// Knowing the bounds of its sizes alone.
Choice chooseWithin(Graph& graph, UOp sink, const LoopNames& names, const Caps& caps) {
  FactsCache cache;
  Chooser prepared(graph, sink, names, caps, cache);
  runAll(preparations(), prepared);
  std::optional<Seed> first = firstSeed(strategies(), prepared);
  if (!first) return {prepared.pattern(), {}, std::move(prepared.opts)};
  return pick(prepared, std::move(*first));
}

std::optional<Choice> chooseOtherLanes(Graph& graph, UOp sink, const LoopNames& names, const Caps& caps) {
  FactsCache cache;
  Chooser prepared(graph, sink, names, caps, cache);
  runAll(preparations(), prepared);
  const std::optional<Seed> first = firstSeed(strategies(), prepared);
  if (!first || !first->branches.wasMet(Branch::Lanes)) return std::nullopt;
  std::optional<Seed> other = firstSeed(first->candidates.first(1), prepared, Branch::Lanes);
  if (!other) return std::nullopt;
  other->choice.why = "other lanes take less time over all sizes";
  return std::move(other->choice);
}

}  // namespace

Choice choose(Graph& graph, UOp sink, const Caps& caps) {
  const SizePoints points(sink, caps);
  const auto within = [&](UOp sized, const LoopNames& names, const Caps& with) {
    return chooseWithin(graph, sized, names, with);
  };
  const auto otherLanes = [&](UOp sized, const LoopNames& names, const Caps& with) {
    return chooseOtherLanes(graph, sized, names, with);
  };
  if (!points.all().empty())
    if (std::optional<Choice> sized = chooseForPoints(graph, sink, points, caps, within, otherLanes))
      return std::move(*sized);
  return within(sink, LoopNames(sink), caps);
}

UOp atLikelySizes(Graph& graph, UOp sink, const Caps& caps) {
  const SizePoints points(sink, caps);
  return points.all().empty() ? sink : kernelAt(graph, sink, points, points.all()[0].sizes, caps);
}

std::vector<PricedSeed> seedsOf(Graph& graph, UOp sink, const Caps& caps) {
  const SizePoints points(sink, caps);
  const bool isFixed = points.all().empty();
  FactsCache cache;
  const Chooser merged =
      isFixed ? Chooser(graph, sink, LoopNames(sink), caps, cache) : mergedRows(graph, sink, caps, cache);
  const UOp sized = isFixed ? sink : runUpTo(graph, merged.sink, points, points.all()[0], caps);
  Chooser prepared(graph, sized, merged.names, caps, cache);
  runAll(preparations(), prepared);
  std::vector<PricedSeed> priced;
  const auto add = [&](Seed& seed) {
    const double time = timeOf(seed, prepared).oneThread;
    seed.choice.opts.insert(seed.choice.opts.begin(), merged.opts.begin(), merged.opts.end());
    if (!isFixed) shareLargerRun(graph, sink, points, caps, seed.choice);
    if (!isFixed && !withOpts(graph, sink, seed.choice, caps)) return;
    priced.push_back({std::move(seed.choice), time});
  };
  std::optional<Seed> first = firstSeed(strategies(), prepared);
  if (!first) return priced;
  std::vector<Seed> others = otherSeeds(prepared, *first);
  add(*first);
  for (Seed& seed : others) add(seed);
  return priced;
}

std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps) { return optsOf(choose(graph, sink, caps)); }

}  // namespace svod
