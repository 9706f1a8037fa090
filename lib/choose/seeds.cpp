#include "choose/seeds.h"

#include <algorithm>

#include "cost/kernel_cost.h"
#include "opts/replay.h"

namespace svod {

void runAll(std::span<const Strategy> steps, Chooser& c) {
  for (const Strategy& step : steps)
    if (step.fits(c.facts(), c.caps)) step.run(c);
}

std::optional<Seed> firstSeed(std::span<const Strategy> candidates, const Chooser& prepared,
                              std::optional<Branch> other) {
  for (const Strategy& strategy : candidates) {
    if (!strategy.fits(prepared.facts(), prepared.caps)) continue;
    Chooser seed = prepared;
    if (other) seed.branches = Branches(*other);
    if (!strategy.run(seed)) continue;
    runAll(finishes(), seed);
    const std::string_view branch = other ? allBranches()[static_cast<size_t>(*other)].name : "";
    return Seed{{seed.pattern(), strategy.name, std::move(seed.opts), branch, {}}, seed.sink, seed.branches};
  }
  return std::nullopt;
}

std::span<const Strategy> strategiesAfter(const Seed& seed) {
  const auto at = std::ranges::find(strategies(), seed.choice.strategy, &Strategy::name);
  return strategies().subspan(static_cast<size_t>(at - strategies().begin()) + 1);
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
        add(firstSeed({&strategy, 1}, prepared, branch));
  };
  const std::span<const Strategy> later = strategiesAfter(first);
  addBranches(*(later.data() - 1), first.branches);
  for (const Strategy& strategy : later) {
    std::optional<Seed> plain = firstSeed({&strategy, 1}, prepared);
    if (!plain) continue;
    const Branches met = plain->branches;
    add(std::move(plain));
    addBranches(strategy, met);
  }
  return seeds;
}

KernelTime timeOf(const Seed& seed, const Chooser& prepared) {
  return timeOf(prepared.cache.of(endOfOpts(prepared.graph, seed.sink)), prepared.caps);
}

}  // namespace svod
