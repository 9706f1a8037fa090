// svod/runtime.hpp as a C++ program sees it.
#include <array>
#include <svod/runtime.hpp>

#include "runtime/harness.h"

using namespace svod;
namespace rt = svod::runtime;

namespace {

/// y = 2 x of n elements, and a state to which x is added.
std::string doublingPlan(const TempFolder& folder) {
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 8));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n), s = b.state("s", 8);
  b.launch("k_double", {x, y}, {R, W}, {n});
  b.launch("k_accumulate", {x, s}, {R, RW}, {n});
  b.write(folder / "p");
  return folder / "p";
}

}  // namespace

TEST_CASE("a plan runs through the C++ wrapper, and everything is freed at the end of its scope") {
  TempFolder folder;
  auto plan = rt::Plan::load(doublingPlan(folder));
  REQUIRE(plan);
  CHECK(plan->info().inputs == 1);
  CHECK(plan->find(SVOD_INPUT, "x") == size_t{0});
  CHECK(!plan->find(SVOD_INPUT, "y"));
  CHECK(std::string(plan->tensor(SVOD_OUTPUT, 0)->dtype) == "f32");
  CHECK(!plan->tensor(SVOD_OUTPUT, 1));
  CHECK(plan->variable(0)->max == 8);
  auto pool = rt::Pool::create(2);
  REQUIRE(pool);
  CHECK(pool->threads() == 2);
  auto instance = rt::Instance::create(*plan, *pool);
  REQUIRE(instance);
  const std::array<float, 3> x = {1, 2, 3};
  std::vector<float> y(8);
  CHECK(!instance->bindInput("x", std::span(x), {3}));
  CHECK(!instance->bindOutput("y", std::span(y)));
  CHECK(!instance->execute());
  CHECK(y == std::vector<float>{2, 4, 6, 0, 0, 0, 0, 0});
  CHECK(*instance->shape(SVOD_OUTPUT, "y") == std::vector<uint64_t>{3});
  CHECK(instance->state("s").size() == 8 * sizeof(float));
  CHECK(reinterpret_cast<const float*>(instance->state("s").data())[2] == 3);
  CHECK(!instance->submit());
  CHECK(!instance->wait());
  CHECK(reinterpret_cast<const float*>(instance->state("s").data())[2] == 6);
  instance->resetStates();
  CHECK(reinterpret_cast<const float*>(instance->state("s").data())[2] == 0);
  rt::Instance moved = std::move(*instance);
  CHECK(!moved.execute());
}

TEST_CASE("errors of the C++ wrapper are values with code and message") {
  TempFolder folder;
  const auto none = rt::Plan::load(folder / "none");
  REQUIRE(!none);
  CHECK(none.error().exit_code == 74);
  auto plan = rt::Plan::load(doublingPlan(folder));
  auto instance = rt::Instance::create(*plan);
  REQUIRE(instance);
  std::array<float, 3> x = {};
  std::array<int32_t, 3> whole = {};
  const auto codeOf = [](const rt::Failure& failed) { return failed ? std::string(failed->code) : std::string(); };
  CHECK(codeOf(instance->bindInput("x", std::span(x), {4})) == "input-mismatch");
  CHECK(codeOf(instance->bindInput("x", std::span(whole), {3})) == "input-mismatch");
  CHECK(codeOf(instance->bindInput("z", std::span(x), {3})) == "unknown-port");
  CHECK(codeOf(instance->bindOutput("z", std::span(x))) == "unknown-port");
  CHECK(std::string(instance->bindOutput("z", std::span(x))->message) == "the plan has no output 'z'");
  CHECK(std::string(instance->setVariable("m", 1)->message) == "the plan has no variable 'm'");
  CHECK(std::string(instance->shape(SVOD_INPUT, "w").error().message) == "the plan has no input 'w'");
  CHECK(codeOf(instance->setVariable("n", 9)) != "");
  CHECK(!instance->shape(SVOD_OUTPUT, "y"));
  CHECK(instance->state("t").empty());
  CHECK(instance->execute());
  CHECK(std::string(rt::dtypeOf<const uint16_t>()) == "u16");
  CHECK(rt::dtypeOf<void*>() == nullptr);
}
