#include "choose/seeds.h"

#include <algorithm>

#include "choose/strategies.h"
#include "cost/kernel_cost.h"
#include "opts/replay.h"

namespace svod {

namespace {

void runAll(std::span<const Strategy> steps, Chooser& c) {
  for (const Strategy& step : steps)
    if (step.fits(c.facts(), c.caps)) step.run(c);
}

// What the strategy makes of a kernel that is prepared, if the kernel is one for it.
std::optional<Seed> seedOf(const Strategy& strategy, const Chooser& prepared, Branches branches,
                           std::string_view branch) {
  if (!strategy.fits(prepared.facts(), prepared.caps)) return std::nullopt;
  Chooser seed = prepared;
  seed.branches = branches;
  if (!strategy.run(seed)) return std::nullopt;
  runAll(finishes(), seed);
  return Seed{{seed.pattern(), strategy.name, std::move(seed.opts), branch, {}}, seed.sink, seed.branches};
}

const Strategy& strategyOf(const Seed& seed) {
  return *std::ranges::find(strategies(), seed.choice.strategy, &Strategy::name);
}

int64_t tilesOf(const KernelFacts& kernel) {
  int64_t tiles = 1;
  for (const Axis& axis : kernel.axes)
    if (axisType(axis.range) == AxisType::Thread) tiles *= std::max<int64_t>(maxExtent(axis.range), 1);
  return tiles;
}

}  // namespace

Chooser prepare(Graph& graph, UOp sink, const Caps& caps, FactsCache& cache) {
  Chooser prepared{graph, sink, caps, cache, sink, LoopNames(sink), {}, {}};
  runAll(preparations(), prepared);
  return prepared;
}

std::optional<Seed> firstSeed(const Chooser& prepared) {
  for (const Strategy& strategy : strategies())
    if (std::optional<Seed> seed = seedOf(strategy, prepared, {}, {})) return seed;
  return std::nullopt;
}

bool hasOthers(const Chooser& prepared, const Seed& first) {
  if (first.branches.any()) return true;
  return std::ranges::any_of(strategies(), [&](const Strategy& strategy) {
    return &strategy > &strategyOf(first) && strategy.fits(prepared.facts(), prepared.caps);
  });
}

std::vector<Seed> otherSeeds(const Chooser& prepared, const Seed& first) {
  std::vector<Seed> seeds;
  const auto add = [&](std::optional<Seed> seed) {
    if (!seed || seed->sink == first.sink) return;
    if (std::ranges::find(seeds, seed->sink, &Seed::sink) == seeds.end()) seeds.push_back(std::move(*seed));
  };
  const auto addBranches = [&](const Strategy& strategy, const Branches& met) {
    for (size_t i = 0; i < allBranches().size(); ++i)
      if (const auto branch = static_cast<Branch>(i); met.wasMet(branch))
        add(seedOf(strategy, prepared, Branches(branch), allBranches()[i].name));
  };
  addBranches(strategyOf(first), first.branches);
  for (const Strategy& strategy : strategies()) {
    if (&strategy <= &strategyOf(first)) continue;
    std::optional<Seed> plain = seedOf(strategy, prepared, {}, {});
    if (!plain) continue;
    const Branches met = plain->branches;
    add(std::move(plain));
    addBranches(strategy, met);
  }
  return seeds;
}

SeedTime timeOf(const Seed& seed, const Chooser& prepared) {
  const KernelFacts& kernel = prepared.cache.of(endOfOpts(prepared.graph, seed.sink));
  const int64_t tiles = tilesOf(kernel), workers = prepared.caps.threads ? prepared.caps.workers : 1;
  const double time = costOf(kernel, prepared.caps).total;
  return {time, time * static_cast<double>(ceilDiv(tiles, workers)) / static_cast<double>(tiles)};
}

}  // namespace svod
