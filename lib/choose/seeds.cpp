#include "choose/seeds.h"

#include <algorithm>

#include "cost/kernel_cost.h"
#include "cost/parameters.h"
#include "opts/replay.h"

namespace svod {

std::optional<Seed> firstSeed(std::span<const Strategy> candidates, const Chooser& prepared,
                              std::optional<Branch> other) {
  for (; !candidates.empty(); candidates = candidates.subspan(1)) {
    const Strategy& strategy = candidates[0];
    if (!fits(strategy, prepared.facts(), prepared.caps)) continue;
    Chooser seed = prepared;
    if (other) seed.branches = Branches(*other);
    if (!strategy.run(seed)) continue;
    runAll(finishes(), seed);
    const std::string_view branch = other ? allBranches()[static_cast<size_t>(*other)].name : "";
    return Seed{
        {seed.pattern(), strategy.name, std::move(seed.opts), branch, {}}, seed.sink, seed.branches, candidates};
  }
  return std::nullopt;
}

std::vector<Seed> otherSeeds(const Chooser& prepared, const Seed& first) {
  std::vector<Seed> seeds;
  const auto add = [&](std::optional<Seed> seed) {
    if (!seed || seed->sink == first.sink) return;
    if (std::ranges::find(seeds, seed->sink, &Seed::sink) == seeds.end()) seeds.push_back(std::move(*seed));
  };
  const auto addBranches = [&](const Seed& plain) {
    for (size_t i = 0; i < allBranches().size(); ++i)
      if (const auto branch = static_cast<Branch>(i); plain.branches.wasMet(branch))
        add(firstSeed(plain.candidates.first(1), prepared, branch));
  };
  for (std::optional<Seed> plain = first; plain; plain = firstSeed(plain->candidates.subspan(1), prepared)) {
    add(plain);
    addBranches(*plain);
  }
  return seeds;
}

std::vector<Seed> seedsPricedAlike(const Chooser& prepared, const Seed& first) {
  std::vector<Seed> seeds;
  for (size_t i = 1; i < first.candidates.size(); ++i)
    if (arePricedAlike(first.candidates[i], first.candidates[0]))
      if (std::optional<Seed> seed = firstSeed(first.candidates.subspan(i, 1), prepared))
        if (seed->sink != first.sink) seeds.push_back(std::move(*seed));
  if (first.branches.wasOpen(Branch::Lanes))
    if (std::optional<Seed> seed = firstSeed(first.candidates.first(1), prepared, Branch::Lanes))
      if (seed->sink != first.sink) seeds.push_back(std::move(*seed));
  return seeds;
}

double marginOf(const Seed& seed, const Seed& first) {
  const Strategy &own = seed.candidates[0], &other = first.candidates[0];
  const std::string_view branch = seed.choice.branch;
  if (own.name == other.name && branch == allBranches()[static_cast<size_t>(Branch::Lanes)].name)
    return parameters::kMarginLanes;
  return arePricedAlike(own, other) && branch.empty() ? parameters::kMarginAlike : parameters::kMargin;
}

KernelTime timeOf(const Seed& seed, const Chooser& prepared) {
  return timeOf(prepared.cache.of(endOfOpts(prepared.graph, seed.sink, prepared.caps)), prepared.caps);
}

}  // namespace svod
