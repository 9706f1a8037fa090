// Lists that were timed, and how far a ranking of them can be trusted.
#include <catch2/catch.hpp>

#include "search/herd.h"

using namespace svod;

TEST_CASE("Lists with one code are once among those that changes are made of") {
  Herd herd;
  const auto list = [](std::string text, size_t opts) {
    return Candidate{std::vector<OptOp>(opts), std::move(text), ""};
  };
  CHECK(herd.add(list("b", 2), 20, "B"));
  CHECK(herd.add(list("a", 3), 10, "A"));
  CHECK(!herd.add(list("a again, longer", 4), 10, "A"));
  CHECK(herd.best(5)[0].text == "a");
  CHECK(!herd.add(list("a again", 1), 10, "A"));
  CHECK(herd.best(5)[0].text == "a again");
  CHECK((herd.size() == 2 && herd.bestTime() == 10 && herd.fastest(1).size() == 1));
  CHECK(herd.add(list("c", 1), 10, "C"));  // as fast, where times are rounded
  CHECK(herd.size() == 3);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) herd.add(list(std::to_string(i), 1), 30 + i, "");
  const Herd some = herd.some(4, random);
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
