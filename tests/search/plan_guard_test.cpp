#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "measure/sequential_test.h"
#include "search/plan_guard.h"

using namespace svod;

namespace {

using Numbers = std::vector<size_t>;

/// A machine on which a plan takes a part of the time of -O1 that is a product of what each winner makes of it, with
/// noise, and is compared with it in pairs as svodc tune does.
class SimulatedPlan : public GuardMeasure {
 public:
  explicit SimulatedPlan(size_t winners, uint32_t seed = 1) : warm(winners, 0.998), cold(winners, 1), random_(seed) {}

  std::vector<double> warm, cold;  // of the time of -O1, by winner
  Numbers together = {};           // winners that only all of them make the plan slower, by 10 %
  double noise = 0.02;
  size_t most = SIZE_MAX;
  std::vector<Numbers> timed = {};
  std::vector<WholeTimes> said = {};

  WholeTimes with(const Numbers& winners) override {
    timed.push_back(winners);
    BothWays warmPairs(1, 0.99, 60), coldPairs(1, 0.99, 15);
    while (!warmPairs.loss.isOver()) warmPairs.add(sample(winners, warm));
    while (!coldPairs.loss.isOver()) coldPairs.add(sample(winners, cold));
    said.push_back({warmPairs.gain.ratio(), coldPairs.gain.ratio(), isClearlySlower(warmPairs, coldPairs)});
    return said.back();
  }
  bool isOver() override { return timed.size() >= most; }

  GuardResult guarded() { return guardPlan(warm.size(), *this); }

 private:
  double sample(const Numbers& winners, const std::vector<double>& factors) {
    double ratio = 1;
    for (size_t i : winners) ratio *= factors[i];
    const auto isThere = [&](size_t i) { return std::ranges::find(winners, i) != winners.end(); };
    if (!together.empty() && std::ranges::all_of(together, isThere)) ratio *= 1.1;
    return ratio * std::exp(std::normal_distribution<double>(0, noise)(random_));
  }

  std::mt19937 random_;
};

Numbers droppedOf(const GuardResult& result) {
  Numbers all;
  for (const GuardResult::Drop& drop : result.dropped) all.push_back(drop.winner);
  std::ranges::sort(all);
  return all;
}

/// What guardPlan() promises: each winner stays or is dropped, and the plan that is left was timed and is not slower.
void checkPromise(const SimulatedPlan& plan, const GuardResult& result) {
  CHECK(result.kept.size() + result.dropped.size() == plan.warm.size());
  CHECK(std::ranges::is_sorted(result.kept));
  CHECK(!result.times.isSlower);
  if (result.kept.empty()) return;
  const auto last = std::ranges::find(plan.timed, result.kept);
  REQUIRE(last != plan.timed.end());
  CHECK(!plan.said[static_cast<size_t>(last - plan.timed.begin())].isSlower);
}

}  // namespace

TEST_CASE("Winners that gain alone and lose in the plan are dropped, and the others stay") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SimulatedPlan plan(28, seed);
    plan.warm[0] = plan.warm[17] = 1.15;
    const GuardResult result = plan.guarded();
    CHECK(droppedOf(result) == Numbers{0, 17});
    checkPromise(plan, result);
    for (const GuardResult::Drop& drop : result.dropped) CHECK(drop.times.value().warm > 1.03);
    CHECK(plan.timed.size() < 20);  // halves: not one after the other
  }
}

TEST_CASE("Noise alone drops no winner") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SimulatedPlan plan(28, seed);
    plan.noise = 0.05;
    std::ranges::fill(plan.warm, 1.0);
    CHECK(plan.guarded().dropped.empty());
    CHECK(plan.timed.size() == 1);
  }
}

TEST_CASE("Of winners that are slower together the first one stays") {
  SimulatedPlan plan(9);
  plan.together = {2, 6};
  const GuardResult result = plan.guarded();
  CHECK(droppedOf(result) == Numbers{6});
  checkPromise(plan, result);
}

TEST_CASE("A plan that loses with cold caches what it gains with warm ones is slower") {
  SimulatedPlan plan(6);
  plan.cold[1] = 1.2;  // more than all gain with warm caches
  plan.cold[4] = 0.9;
  CHECK(droppedOf(plan.guarded()) == Numbers{1});
  plan.warm[1] = 0.8;
  CHECK(plan.guarded().dropped.empty());
}

TEST_CASE("A little of each winner is too much for the plan: as many stay as it takes") {
  SimulatedPlan plan(16);
  std::ranges::fill(plan.warm, 1.01);
  const GuardResult result = plan.guarded();
  checkPromise(plan, result);
  CHECK(result.kept.size() <= 3);
}

TEST_CASE("Where the time ends, what was not tried is dropped without times") {
  for (size_t most = 0; most <= 14; ++most) {
    SimulatedPlan plan(12);
    plan.most = most, plan.warm[3] = 1.2;
    const GuardResult result = plan.guarded();
    checkPromise(plan, result);
    CHECK(plan.timed.size() <= std::max<size_t>(most, 1));
    const bool isCut = std::ranges::any_of(result.dropped, [](const auto& drop) { return !drop.times; });
    CHECK(isCut == (most < 6));
    if (!isCut) CHECK(droppedOf(result) == Numbers{3});
  }
}

TEST_CASE("Where every winner makes the plan slower, it is that of -O1") {
  SimulatedPlan plan(7);
  std::ranges::fill(plan.warm, 1.1);
  const GuardResult result = plan.guarded();
  CHECK(result.kept.empty());
  CHECK((result.times.warm == 1 && result.times.cold == 1));
  checkPromise(plan, result);
}

TEST_CASE("Where nothing won, nothing is timed") {
  SimulatedPlan plan(0);
  CHECK((plan.guarded().kept.empty() && plan.timed.empty()));
}
