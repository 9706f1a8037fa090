// Plans for several processors: which one is taken, what the plan is then, and what variants may not say.
#include "plan/variants.h"

#include <catch2/catch.hpp>

#include "plan/check.h"
#include "plan/sample.h"

using namespace svod;

namespace {

std::optional<size_t> best(const std::vector<Processor>& processors, const std::vector<std::string>& machine) {
  std::vector<std::vector<std::string>> missing;
  for (const Processor& processor : processors) {
    missing.emplace_back();
    for (const std::string& name : processor.features)
      if (std::ranges::find(machine, name) == machine.end()) missing.back().push_back(name);
  }
  return bestOf(processors, missing);
}

struct Damage {
  std::string message;
  void (*damage)(Plan&);
};

}  // namespace

TEST_CASE("of the processors that lack nothing the one with the most features is taken, the first of equals") {
  const std::vector<Processor> all = {{"b", {"x"}}, {"a", {}}, {"c", {"x", "y"}}, {"d", {"x", "z"}}, {"e", {"y", "x"}}};
  CHECK(best(all, {}) == 1);
  CHECK(best(all, {"y"}) == 1);
  CHECK(best(all, {"x"}) == 0);
  CHECK(best(all, {"x", "y"}) == 2);
  CHECK(best(all, {"x", "z"}) == 3);
  CHECK(best(all, {"x", "y", "z"}) == 2);
  CHECK(best({{"b", {"x"}}, {"c", {"y", "z"}}}, {"y"}) == std::nullopt);
  CHECK(byPreference(all) == std::vector<size_t>{2, 3, 4, 0, 1});
}

TEST_CASE("a plan has its own processor first, and is another plan for each of the others") {
  const Plan plan = sampleVariantsPlan();
  const std::vector<Processor> all = processorsOf(plan);
  REQUIRE(all.size() == 3);
  CHECK(all[0].cpu == "x86-64");
  CHECK(all[1].cpu == "x86-64-v3");
  for (size_t i = 0; i < all.size(); i++) {
    Plan taken = plan;
    takeVariant(taken, i);
    CHECK(taken.variants.empty());
    CHECK(taken.target.cpu == all[i].cpu);
    CHECK(taken.target.features == all[i].features);
    CHECK(check(taken));
    for (StepId step = 0; step < plan.steps.size(); step++)
      if (i != 1 || (step != 4 && step != 5)) CHECK(taken.steps[step] == plan.steps[step]);
    if (i == 1) CHECK(std::get<Launch>(taken.steps[5].action) == plan.variants[0].launches[1].launch);
  }
}

TEST_CASE("devices take variants of their architectures beside the one for the processor") {
  const Plan plan = sampleArchPlan();
  REQUIRE(check(plan));
  CHECK(processorsOf(plan).size() == 2);
  Plan taken = plan;
  takeVariant(taken, 1);
  CHECK(taken.target.cpu == "x86-64-v3");
  REQUIRE(taken.variants.size() == 1);
  for (const auto& [device, arch, isOther] :
       {std::tuple(DeviceId(2), "arch_8", true), {DeviceId(2), "arch_9", false}, {DeviceId(1), "arch_8", false}}) {
    Plan own = taken;
    takeArch(own, device, arch);
    CHECK(std::get<Launch>(own.steps[8].action).kernel == (isOther ? 2 : 1));
    own.variants.clear();
    CHECK(check(own));
  }
}

TEST_CASE("check: variants for devices") {
  const std::vector<Damage> rows = {
      {"variants[1]: 'gpu:arch_8' stands behind one for a processor",
       [](Plan& p) { std::swap(p.variants[0], p.variants[1]); }},
      {"variants[1]: 'gpu:arch_8' is there twice",
       [](Plan& p) { p.variants.insert(p.variants.begin(), p.variants[0]); }},
      {"variants[0].launches[0]: kernel 'k_grid@arch_8' has no image for gpu:arch_9",
       [](Plan& p) { p.variants[0].cpu = "gpu:arch_9"; }},
      {"variants[0].launches[0]: kernel 'k_grid@arch_8' has no image for other:arch_8",
       [](Plan& p) { p.variants[0].cpu = "other:arch_8"; }},
      {"variants[0].launches[0]: kernel 'k_grid@arch_8' has no image for :", [](Plan& p) { p.variants[0].cpu = ":"; }},
      {"variants[0].launches[0]: there is no kernel 3 of 3",
       [](Plan& p) { p.variants[0].launches[0].launch.kernel = 3; }},
      {"variants[0]: step 7 is no launch", [](Plan& p) { p.variants[0].launches[0].step = 7; }},
      {"variants[0]: there is no step 10 of 10", [](Plan& p) { p.variants[0].launches[0].step = 10; }},
      {"variants[0].launches[0]: argument 0 touches other bytes than that of the step",
       [](Plan& p) {
         std::swap(p.variants[0].launches[0].launch.buffers[0], p.variants[0].launches[0].launch.buffers[1]);
       }},
  };
  for (const Damage& row : rows) {
    Plan plan = sampleArchPlan();
    row.damage(plan);
    const Status status = check(plan);
    CHECK((status ? "" : status.error()->message) == row.message);
  }
}

TEST_CASE("check: variants") {
  REQUIRE(check(sampleVariantsPlan()));
  const std::vector<Damage> rows = {
      {"variants[0]: the processor has no name", [](Plan& p) { p.variants[0].cpu = ""; }},
      {"variants[0]: 'x86-64' is there twice", [](Plan& p) { p.variants[0].cpu = "x86-64"; }},
      {"variants[1]: 'x86-64-v3' is there twice", [](Plan& p) { p.variants[1].cpu = "x86-64-v3"; }},
      {"variants: more than 63", [](Plan& p) { p.variants.resize(64); }},
      {"variants[0]: there is no step 7 of 7", [](Plan& p) { p.variants[0].launches[1].step = 7; }},
      {"variants[0]: step 4 comes behind 4", [](Plan& p) { p.variants[0].launches[1].step = 4; }},
      {"variants[0]: step 3 is no launch", [](Plan& p) { p.variants[0].launches[0].step = 3; }},
      {"variants[0].launches[0]: there is no kernel 3 of 3",
       [](Plan& p) { p.variants[0].launches[0].launch.kernel = 3; }},
      {"variants[0].launches[1]: there is no buffer 10 of 10",
       [](Plan& p) { p.variants[0].launches[1].launch.buffers[0] = 10; }},
      {"variants[0].launches[1]: 'w', of 64 bytes, does not fit argument 0 of 'add', of 128",
       [](Plan& p) { p.variants[0].launches[1].launch.buffers[0] = 3; }},
      {"variants[0].launches[1]: there is no variable 7 of 3",
       [](Plan& p) { p.variants[0].launches[1].launch.values[0] = Expr::variable(7); }},
      {"variants[0].launches[0]: 'add' takes 2 buffers and 1 values, not 2 buffers and 2 values",
       [](Plan& p) { p.variants[0].launches[0].launch.values.emplace_back(1); }},
      {"variants[0].launches[0]: argument 0 touches other bytes than that of the step",
       [](Plan& p) { p.variants[0].launches[0].launch.buffers[0] = 0; }},
      {"variants[0].launches[0]: argument 1 touches other bytes than that of the step",
       [](Plan& p) { p.variants[0].launches[0].launch.buffers[1] = 1; }},
      {"variants[0].launches[0]: argument 0 touches other bytes than that of the step",
       [](Plan& p) { p.kernels[2].args[0].bytes = 60; }},
      {"variants[0].launches[0]: argument 0 touches other bytes than that of the step",
       [](Plan& p) { p.variants[0].launches[0].launch.buffers[0] = 3; }},
  };
  for (const Damage& row : rows) {
    Plan plan = sampleVariantsPlan();
    row.damage(plan);
    const Status status = check(plan);
    REQUIRE(!status);
    CHECK(status.error()->message == row.message);
  }
}
