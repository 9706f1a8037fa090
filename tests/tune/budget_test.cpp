#include "tune/budget.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace svod;

namespace {

/// Runs all turns on a clock of its own; `take` says what a kernel does with its seconds: how many it used, and with
/// what it asks for more. The seconds that each kernel used.
template <class Take>
std::vector<double> share(const std::vector<TimeClaim>& claims, double seconds, Take take) {
  std::vector<double> used(claims.size());
  Turns turns(claims, seconds);
  for (int i = 0; i < 10000; ++i) {
    const auto turn = turns.next(seconds);
    if (!turn) return used;
    CHECK(turn->seconds <= seconds * (1 + 1e-9));
    auto [spent, claim] = take(*turn);
    seconds -= spent, used[turn->kernel] += spent;
    turns.ended(turn->kernel, claim);
  }
  FAIL("turns without end");
  return used;
}

}  // namespace

TEST_CASE("Every kernel whose search goes on has one turn in a round") {
  Turns turns({{6}, {3}, {1}}, 600);
  std::vector<std::pair<size_t, int>> given;
  double left = 600;
  while (given.size() < 8) {
    const auto turn = turns.next(left).value();
    given.emplace_back(turn.kernel, turn.round);
    turns.ended(turn.kernel, {1, 0, turn.kernel == 1 && turn.round == 2});
    left -= turn.seconds;
  }
  std::ranges::stable_sort(given, {}, &std::pair<size_t, int>::second);
  std::vector<int> rounds;
  for (const auto& [kernel, round] : given) rounds.push_back(round);
  CHECK(rounds == std::vector<int>{1, 1, 1, 2, 2, 2, 3, 3});
}

TEST_CASE("All of the time is spent while a search goes on, by weight where gains are equal") {
  const auto used = share({{6}, {3}, {1}}, 600, [](const Turns::Turn& turn) {
    const double weights[] = {6, 3, 1};
    return std::pair(turn.seconds, TimeClaim{weights[turn.kernel], 0.5, false});
  });
  CHECK(std::accumulate(used.begin(), used.end(), 0.0) == Approx(600).margin(1));
  CHECK(used[0] == Approx(2 * used[1]).epsilon(0.05));
  CHECK(used[1] == Approx(3 * used[2]).epsilon(0.05));
}

TEST_CASE("Time goes to kernels that gain, and what a search leaves over goes to the others") {
  const auto used = share({{1}, {1}, {1}}, 900, [](const Turns::Turn& turn) {
    if (turn.kernel == 2) return std::pair(1.0, TimeClaim{1, 0, true});  // at its end after a second
    return std::pair(turn.seconds, TimeClaim{1, turn.kernel == 0 ? 0.5 : 0.0, false});
  });
  CHECK(used[2] == Approx(1));
  CHECK(used[0] > 2 * used[1]);
  CHECK(used[1] > 100);  // its first turn, and the least share of the others
  CHECK(used[0] + used[1] + used[2] == Approx(900).margin(1));
}

TEST_CASE("Where there are more kernels than time the heaviest ones have turns that are worth their start") {
  std::vector<TimeClaim> claims(100, TimeClaim{1});
  for (size_t i = 90; i < 100; ++i) claims[i].weight = 2;
  int tried = 0;
  const auto used = share(claims, 10, [&](const Turns::Turn& turn) {
    tried += turn.seconds > 0.2;
    return std::pair(std::max(turn.seconds, 0.2), TimeClaim{claims[turn.kernel].weight, 0.5, false, 0.2});
  });
  CHECK((tried >= 11 && tried <= 13));  // of four fifths of a second, but the first one, which told how long a start is
  for (size_t i = 90; i < 100; ++i) CHECK(used[i] > 0);
  CHECK(std::ranges::count(used, 0.0) >= 85);
}

TEST_CASE("One kernel has all of the time in one turn, and kernels without a weight have turns") {
  CHECK(Turns({{0}}, 100).next(100)->seconds == Approx(100));
  const auto used =
      share({{0}, {0}}, 100, [](const Turns::Turn& turn) { return std::pair(turn.seconds, TimeClaim{0, 0, false}); });
  CHECK(used[0] == Approx(50).margin(1));
  CHECK(used[1] == Approx(50).margin(1));
  CHECK(!Turns({}, 100).next(100));
  CHECK(!Turns({{1}}, 100).next(0));
  CHECK(!Turns({{1, 1, true}}, 100).next(100));
}

TEST_CASE("A short time is not cut into rounds") {
  Turns turns({{1}, {1}}, 2);
  CHECK(turns.next(2)->seconds == Approx(1));
  CHECK(turns.next(1)->seconds == Approx(1));
}

TEST_CASE("In a short time kernels of little weight have their turn as well, also where others take too long") {
  const std::vector<TimeClaim> claims = {{1000}, {100}, {1}, {1}, {1}, {1}, {1}};
  std::vector<double> given(claims.size());
  Turns turns(claims, 10);
  double left = 10;
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto turn = turns.next(left);
    REQUIRE(turn);
    given[turn->kernel] = turn->seconds;
    left -= turn->seconds + 0.1;  // what was begun is brought to its end
    turns.ended(turn->kernel, {1, 0, true});
  }
  for (double seconds : given) CHECK(seconds >= 0.25);
  CHECK(given[0] > 4);
}
