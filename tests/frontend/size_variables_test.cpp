// Equations between variables: what they leave, checked against brute force.
#include "frontend/size_variables.h"
#include "frontend/size_bounds.h"

#include <catch2/catch.hpp>
#include <random>

#include "frontend/size_bounds.h"
#include "frontend/size_form.h"

using namespace svod;

namespace {

SizeForm form(std::string_view text) {
  Result<SizeForm> parsed = parseSizeForm(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

int64_t valueOf(const SizeForm& form, const std::map<std::string, int64_t>& values) {
  int64_t total = form.constant;
  for (const auto& [name, times] : form.factors) total += times * values.at(name);
  return total;
}

constexpr SizeVariables::Source kGiven = SizeVariables::Source::Given, kDefault = SizeVariables::Source::Default;

}  // namespace

TEST_CASE("forms are written as they are read") {
  CHECK(toText(form("8*k")) == "8*k");
  CHECK(toText(form("3 + 2*(a - b) - -a")) == "3*a - 2*b + 3");
  CHECK(toText(form("a - a")) == "0");
  CHECK(toText(form("`batch size` + 1")) == "`batch size` + 1");
  CHECK(form("k*8") == form("8*k"));
  for (const char* text : {"a*b", "a//2", "a%2", "min(a, b)", "1.5", "", "a +", "4611686018427387905"}) {
    INFO(text);
    CHECK(parseSizeForm(text).error()->diag == Diag::Usage);
  }
}

TEST_CASE("equations keep exactly the solutions they have") {
  std::mt19937 random(11);
  const std::vector<std::string> names = {"a", "b", "c"};
  auto randomForm = [&] {
    SizeForm f;
    for (const std::string& name : names)
      if (random() % 2) f.factors[name] = static_cast<int64_t>(random() % 5) - 2;
    std::erase_if(f.factors, [](const auto& x) { return x.second == 0; });
    f.constant = static_cast<int64_t>(random() % 7) - 3;
    return f;
  };
  int solved = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    SizeVariables sizes;
    for (const std::string& name : names) sizes.declare(name, {1, 9}, kGiven);
    std::vector<std::pair<SizeForm, SizeForm>> equations;
    bool isRefused = false;
    for (int e = 0; e < 2 && !isRefused; ++e) {
      equations.emplace_back(randomForm(), randomForm());
      isRefused = !sizes.equate(equations.back().first, equations.back().second, "test");
    }
    ++(isRefused ? refused : solved);
    int differences = 0;
    // Of all values, those that fulfil the equations are those that the reduced forms describe.
    for (int64_t a = 1; a < 10; ++a)
      for (int64_t b = 1; b < 10; ++b)
        for (int64_t c = 1; c < 10; ++c) {
          const std::map<std::string, int64_t> values = {{"a", a}, {"b", b}, {"c", c}};
          bool holds = true, isDescribed = true;
          for (const auto& [left, right] : equations) holds &= valueOf(left, values) == valueOf(right, values);
          for (const std::string& name : names)
            isDescribed &= valueOf(sizes.reduced(SizeForm::variable(name)), values) == values.at(name);
          differences += !isRefused && holds != isDescribed;
        }
    CHECK(differences == 0);
  }
  CHECK(solved > 1000);
  CHECK(refused > 50);
}

TEST_CASE("bounds of free variables follow from those of the others") {
  SizeVariables sizes;
  sizes.declare("h", {1, 100}, kGiven);
  REQUIRE(sizes.equate(form("h"), form("8*k"), "--var h=8*k"));
  REQUIRE(sizes.settle(std::nullopt));
  CHECK(sizes.boundsOf("k") == Interval{1, 12});
  CHECK(!sizes.isFree("h"));

  sizes.bound("k", {5, 20});
  REQUIRE(sizes.settle(std::nullopt));
  CHECK(sizes.boundsOf("k") == Interval{5, 12});
  sizes.bound("k", {13, 20});
  CHECK(sizes.settle(std::nullopt).error()->diag == Diag::VariableBounds);

  // Bounds that nobody gave give way.
  SizeVariables soft;
  soft.declare("h", {1, 512}, kDefault);
  soft.bound("k", {1, 1000});
  REQUIRE(soft.equate(form("h"), form("8*k"), "--var h=8*k"));
  REQUIRE(soft.settle(std::nullopt));
  CHECK(soft.boundsOf("k") == Interval{1, 1000});

  SizeVariables unbounded;
  unbounded.declare("h", {1, 512}, kDefault);
  REQUIRE(unbounded.equate(form("h"), form("a + b"), "--var h=a + b"));
  CHECK(unbounded.settle(std::nullopt).error()->message == "the new variable 'a' has no bounds");
  REQUIRE(unbounded.settle(Interval{1, 512}));

  SizeVariables total;
  total.declare("total", {1, 512}, kGiven);
  total.declare("past", {1, 512}, kGiven);
  total.declare("seq", {1, 64}, kGiven);
  REQUIRE(total.equate(form("total"), form("past + seq"), "--var total=past+seq"));
  CHECK(total.settle(std::nullopt).error()->message ==
        "'total' is past + seq (--var total=past+seq) and reaches [2, 576], beyond its bounds [1, 512]");
}

TEST_CASE("contradictions say what they contradict") {
  SizeVariables sizes;
  sizes.declare("h", {1, 512}, kGiven);
  REQUIRE(sizes.equate(form("h"), form("8*k"), "--var h=8*k"));
  CHECK(sizes.equate(form("h"), form("13"), "--shape x").error()->message ==
        "--shape x: 8*k = 13 has no solution in whole numbers");
  CHECK(sizes.equate(form("h"), form("8*k + 8"), "--var h=8*k+8").error()->message ==
        "--var h=8*k+8: h is never 8*k + 8: 'h' is 8*k (--var h=8*k)");
  REQUIRE(sizes.equate(form("k"), form("3"), "--var k=3"));
  CHECK(sizes.reduced(form("h")) == SizeForm::number(24));
  CHECK(sizes.equate(form("2*a"), form("3*b"), "--shape y").error()->diag == Diag::BindMismatch);
}

TEST_CASE("what a model forces takes away a variable that nobody bounded") {
  SizeVariables sizes;
  sizes.declare("batch", {1, 512}, kDefault);
  sizes.declare("total", {1, 512}, kDefault);
  sizes.declare("past", {1, 512}, kDefault);
  sizes.declare("seq", {1, 512}, kDefault);
  sizes.declare("batch2", {1, 512}, kDefault);
  sizes.declare("fixed", {1, 64}, kGiven);
  auto made = sizes.unify(form("batch2"), form("batch"));
  REQUIRE(made);
  CHECK(made->first == "batch2");
  CHECK(made->second == form("batch"));
  made = sizes.unify(form("past + seq"), form("total"));
  REQUIRE(made);
  CHECK(made->first == "total");
  CHECK(made->second == form("past + seq"));
  made = sizes.unify(form("fixed"), form("seq"));
  REQUIRE(made);
  CHECK(made->first == "seq");
  CHECK(!sizes.unify(form("fixed"), form("9")));
  CHECK(!sizes.unify(form("2*batch"), form("7")));
  CHECK(!sizes.unify(form("past"), form("0")));
}

TEST_CASE("a product of sizes has less room where bounds of nodes ask for it, and closer ones do not") {
  Graph g;
  const UOp m = g.variable("m", 1, 1024), n = g.variable("n", 1, 1024);
  const UOp few = g.alu(Op::Min, {g.alu(Op::Max, {m, g.index(3)}), g.index(4)});
  // 2 * m where m is at most 3, and 0 elsewhere: m * 8 at most as its terms show it.
  const UOp chosen =
      g.alu(Op::Sub, {g.alu(Op::Mul, {m, g.index(8)}), g.alu(Op::Mul, {g.alu(Op::Mul, {m, few}), g.index(2)})});
  const std::vector<UOp> dims = {chosen, n};
  REQUIRE(chosen.bounds().max > 4096);
  for (const int64_t room : {int64_t{1} << 22, int64_t{1} << 16}) {
    const auto shares = productOfShares(g, dims, room);
    REQUIRE(shares);
    CHECK(shares->first < 1024 * 1024);
  }
}
