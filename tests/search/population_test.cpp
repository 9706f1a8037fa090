// Lists that were timed, and how far a ranking of them can be trusted.
#include <catch2/catch.hpp>

#include "search/population.h"

using namespace svod;

TEST_CASE("Lists with one code are once among those that changes are made of") {
  Population population;
  const auto list = [](std::string text, size_t opts) {
    return Candidate{std::vector<OptOp>(opts), std::move(text), ""};
  };
  CHECK(population.add(list("b", 2), 20, "B"));
  CHECK(population.add(list("a", 3), 10, "A"));
  CHECK(!population.add(list("a again, longer", 4), 10, "A"));
  CHECK(population.best(5)[0].text == "a");
  CHECK(!population.add(list("a again", 1), 10, "A"));
  CHECK(population.best(5)[0].text == "a again");
  CHECK((population.size() == 2 && population.bestTime() == 10 && population.fastest(1).size() == 1));
  CHECK(population.add(list("c", 1), 10, "C"));  // as fast, where times are rounded
  CHECK(population.size() == 3);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) population.add(list(std::to_string(i), 1), 30 + i, "");
  const Population some = population.some(4, random);
  CHECK(some.size() == 4);
  for (const Timed& timed : some.fastest(4)) CHECK(timed.nanoseconds < 30 + 61);  // of the fastest 64
}

TEST_CASE("The agreement of two rankings") {
  std::vector<double> up, down, squares, level(20, 7);
  for (int i = 0; i < 20; ++i) up.push_back(i), down.push_back(-i), squares.push_back(i * i);
  CHECK(rankAgreement(up, squares) == Approx(1));
  CHECK(rankAgreement(up, down) == Approx(-1));
  CHECK(rankAgreement(up, level) == 0);
  CHECK(rankAgreement(std::span(up).first(5), std::span(squares).first(5)) == 0);  // too few
  std::swap(squares[0], squares[19]);
  CHECK(rankAgreement(up, squares) == Approx(1 - 6.0 * 2 * 19 * 19 / (20 * 399)));
}
