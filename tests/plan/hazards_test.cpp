#include "plan/hazards.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace svod;
using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

namespace {

Pairs pairsOf(std::vector<std::vector<BufferAccess>> steps) { return hazardPairs(steps); }

/// Orders by brute force: every two steps that share a byte one of them writes.
std::set<std::pair<uint32_t, uint32_t>> conflicts(const std::vector<std::vector<BufferAccess>>& steps) {
  std::set<std::pair<uint32_t, uint32_t>> out;
  for (uint32_t a = 0; a < steps.size(); a++)
    for (uint32_t b = a + 1; b < steps.size(); b++)
      for (const BufferAccess& x : steps[a])
        for (const BufferAccess& y : steps[b])
          if (x.storage == y.storage && x.begin < y.end && y.begin < x.end && (writes(x.mode) || writes(y.mode)))
            out.emplace(a, b);
  return out;
}

std::vector<std::vector<bool>> closure(const DepLists& deps) {
  std::vector<std::vector<bool>> before(deps.size(), std::vector<bool>(deps.size(), false));
  for (size_t step = 0; step < deps.size(); step++)
    for (uint32_t dep : deps[step]) {
      before[step][dep] = true;
      for (size_t i = 0; i < dep; i++)
        if (before[dep][i]) before[step][i] = true;
    }
  return before;
}

}  // namespace

TEST_CASE("hazards: the three kinds") {
  const BufferAccess w{1, 0, 64, Mode::Write}, r{1, 0, 64, Mode::Read};
  CHECK(pairsOf({{w}, {r}}) == Pairs{{0, 1}});
  CHECK(pairsOf({{r}, {w}}) == Pairs{{0, 1}});
  CHECK(pairsOf({{w}, {w}}) == Pairs{{0, 1}});
  CHECK(pairsOf({{r}, {r}}).empty());
  CHECK(pairsOf({{w}, {r}, {r}, {w}}) == Pairs{{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}});
}

TEST_CASE("hazards: bytes decide, not buffers") {
  CHECK(pairsOf({{{1, 0, 64, Mode::Write}}, {{1, 64, 128, Mode::Write}}}).empty());
  CHECK(pairsOf({{{1, 0, 65, Mode::Write}}, {{1, 64, 128, Mode::Write}}}) == Pairs{{0, 1}});
  CHECK(pairsOf({{{1, 0, 64, Mode::Write}}, {{2, 0, 64, Mode::Read}}}).empty());
  CHECK(pairsOf({{{1, 0, 64, Mode::Write}, {1, 0, 64, Mode::Read}}}).empty());
  CHECK(pairsOf({{{1, 0, 64, Mode::ReadWrite}}, {{1, 0, 64, Mode::ReadWrite}}}) == Pairs{{0, 1}});
}

TEST_CASE("hazards: random accesses give exactly the orders that conflicts need") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    std::vector<std::vector<BufferAccess>> steps(20);
    for (auto& step : steps)
      for (uint32_t i = 0; i < 1 + random() % 3; i++) {
        const uint64_t begin = random() % 40;
        step.push_back({static_cast<uint32_t>(random() % 2), begin, begin + 1 + random() % 12,
                        static_cast<Mode>(1 + random() % 3)});
      }
    DepLists deps(steps.size());
    const auto expected = conflicts(steps);
    for (auto [first, then] : pairsOf(steps)) {
      CHECK(expected.count({first, then}) == 1);
      deps[then].push_back(first);
    }
    auto before = closure(deps);
    for (auto [first, then] : expected) CHECK(before[then][first]);
    transitiveReduction(deps);
    CHECK(closure(deps) == before);
    for (size_t step = 0; step < deps.size(); step++)  // and no edge can be left out
      for (size_t i = 0; i < deps[step].size(); i++) {
        DepLists fewer = deps;
        fewer[step].erase(fewer[step].begin() + static_cast<ptrdiff_t>(i));
        CHECK(closure(fewer) != before);
      }
  }
}

TEST_CASE("hazards: tenants of units are ordered as wholes, and their own users are not") {
  const auto use = [](uint32_t tenant, uint64_t begin, uint64_t end) {
    return BufferAccess{0, begin, end, Mode::Read, tenant};
  };
  CHECK(pairsOf({{use(1, 0, 2)}, {use(1, 0, 2)}, {use(2, 1, 3)}}) == Pairs{{0, 2}, {1, 2}});
  CHECK(pairsOf({{use(1, 0, 1)}, {use(2, 0, 1)}, {use(2, 0, 1)}}) == Pairs{{0, 1}, {0, 2}});
  CHECK(pairsOf({{use(1, 0, 1)}, {use(2, 1, 2)}}).empty());
  CHECK(pairsOf({{use(1, 0, 1), use(2, 0, 1)}}).empty());
  std::mt19937 random(11);
  for (int round = 0; round < 200; round++) {
    std::vector<std::pair<uint64_t, uint64_t>> places(6);
    for (auto& [begin, end] : places) begin = random() % 6, end = begin + 1 + random() % 4;
    std::vector<std::vector<BufferAccess>> steps(20);
    for (auto& step : steps)
      for (uint32_t i = 0; i < 1 + random() % 2; i++) {
        const uint32_t tenant = random() % places.size();
        step.push_back(use(tenant + 1, places[tenant].first, places[tenant].second));
      }
    DepLists deps(steps.size());
    for (auto [first, then] : pairsOf(steps)) deps[then].push_back(first);
    const auto before = closure(deps);
    for (uint32_t a = 0; a < steps.size(); a++)
      for (uint32_t b = a + 1; b < steps.size(); b++)
        for (const BufferAccess& x : steps[a])
          for (const BufferAccess& y : steps[b])
            if (x.tenant != y.tenant && x.begin < y.end && y.begin < x.end) CHECK(before[b][a]);
  }
}

TEST_CASE("reachability agrees with a closure beyond one range of bits") {
  std::mt19937 random(3);
  DepLists deps(kAncestorRange + 500);
  for (uint32_t step = 1; step < deps.size(); step++)
    if (random() % 3 != 0) deps[step] = {static_cast<uint32_t>(step - 1 - random() % std::min(step, 40u))};
  auto before = closure(deps);
  Pairs ordered, all;
  for (int i = 0; i < 5000; i++) {
    const uint32_t then = 1 + random() % (deps.size() - 1), first = random() % then;
    if (before[then][first]) ordered.emplace_back(first, then);
    all.emplace_back(first, then);
  }
  CHECK(findUnordered(deps, ordered) == nullptr);
  CHECK(findUnordered(deps, all) != nullptr);
}

TEST_CASE("reachability: the steps in a row below a step, and the last run of its ancestors") {
  std::mt19937 random(17);
  for (uint32_t sparse : {1u, 2u, 9u, 200u}) {
    DepLists deps(300);
    for (uint32_t step = 1; step < deps.size(); step++)
      if (random() % sparse == 0) deps[step] = {step - 1 - static_cast<uint32_t>(random() % std::min(step, 3u))};
    const auto before = closure(deps);
    const Ancestors ancestors(deps, 0, static_cast<uint32_t>(deps.size()));
    for (uint32_t step = 0; step < deps.size(); step++) {
      uint32_t prefix = 0, end = static_cast<uint32_t>(deps.size());
      while (before[step][prefix]) prefix++;
      while (end > 0 && !before[step][end - 1]) end--;
      uint32_t begin = end;
      while (begin > 0 && before[step][begin - 1]) begin--;
      const StepRange run = ancestors.lastRun(step);
      CHECK(ancestors.prefix(step) == prefix);
      CHECK(std::pair(run.begin, run.end) == std::pair(begin, end));
    }
  }
}
