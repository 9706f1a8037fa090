#include <catch2/catch.hpp>

#include <numeric>

#include "tools/svodc/tune_array.h"
#include "tools/svodc/tune_budget.h"

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

TEST_CASE("Every array engine has its variable, and the number of its first part is 0 here") {
  for (const ArrayEngine& engine : allArrayEngines()) {
    const std::string variable(engine.variable);
    INFO(variable);
    CHECK(arrayNumber({"A=1", variable + "=" + std::to_string(engine.first)}).value() == 0);
    CHECK(arrayNumber({variable + "=" + std::to_string(engine.first + 41), "B=7"}).value() == 41);
    CHECK(arrayNumber({variable + "=-1"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=x"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=1x"}).error()->diag == Diag::Usage);
    CHECK(arrayNumber({variable + "=99999999999999999999"}).error()->diag == Diag::Usage);
    // outside of an array
    CHECK(!arrayNumber({variable + "=" + std::string(engine.none)}));
    CHECK(arrayNumber({variable + "=" + std::string(engine.none), "SLURM_ARRAY_TASK_ID=3"}).has_value());
    CHECK(!arrayNumber({variable + "X=3"}));
  }
  CHECK(!arrayNumber({}));
  CHECK(!arrayNumber({"SLURM_ARRAY_TASK_ID=1", "JOB_COMPLETION_INDEX=2"}));
  CHECK(arrayNumber({"SLURM_ARRAY_TASK_ID=1", "SGE_TASK_ID=2"}).value() == 1);
  CHECK(unitNumber("12", {}).value() == 12);
  CHECK(unitNumber("auto", {"LSB_JOBINDEX=3"}).value() == 2);
  CHECK(!unitNumber("", {}));
  CHECK(!unitNumber("-1", {}));
  CHECK(!unitNumber("1.5", {}));
}
