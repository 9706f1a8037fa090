// A climb from no opts, step by step.
#include <catch2/catch.hpp>

#include <algorithm>

#include "opts/kernels.h"
#include "opts/machines.h"
#include "search/climb.h"

using namespace svod;

namespace {

struct Kernel {
  Graph graph;
  Caps caps = avx2();
  Moves moves{graph, buildMatmul(graph, {24, 32, 16}), caps};
  Candidate plain = *moves.candidate({}, "no opts");
};

ClimbRules rules() {
  return {[](const Candidate& c) { return c.predicted; }, [](const Candidate&) { return true; }};
}

}  // namespace

TEST_CASE("A step tries the best expected lists first, and so many of them as it may") {
  Kernel kernel;
  std::vector<double> expected;
  for (const Candidate& c : kernel.moves.successors(kernel.plain)) expected.push_back(c.predicted);
  REQUIRE(expected.size() > 10);
  CHECK_FALSE(std::ranges::is_sorted(expected));
  std::ranges::sort(expected);
  ClimbRules few = rules();
  few.rankOf = [](const Candidate& c) { return c.predicted; };
  few.most = 10;
  Climb climb(kernel.moves, kernel.plain, 4, few);
  REQUIRE(climb.size() == 10);
  for (size_t i = 0; i < 10; ++i) CHECK(climb.take(1)[0].predicted == expected[i]);
  CHECK(climb.left() == 0);
  CHECK(Climb(kernel.moves, kernel.plain, 4, rules()).size() == expected.size());
}

TEST_CASE("A climb ends where a step gains nothing, and where nothing of it has a time") {
  Kernel kernel;
  Climb gains(kernel.moves, kernel.plain, 4, rules());
  const size_t first = gains.size();
  gains.take(first);
  gains.goOn();
  CHECK_FALSE(gains.isOver());
  CHECK(gains.size() > first);  // of four lists
  for (double time : {0.0, 1.0}) {
    ClimbRules level = rules();
    level.timeOf = [time](const Candidate&) { return time; };
    level.leastGain = 0.01;
    Climb climb(kernel.moves, kernel.plain, 4, level);
    climb.take(climb.left());
    climb.goOn();
    CHECK(climb.isOver());
  }
}
