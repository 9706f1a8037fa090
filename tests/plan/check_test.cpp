#include "plan/check.h"

#include <catch2/catch.hpp>
#include <functional>

#include "plan/sample.h"

using namespace svod;

namespace {

template <class T>
T& action(Plan& plan, StepId step) {
  return std::get<T>(plan.steps[step].action);
}

/// The message that `check` gives after `damage`.
std::string refusal(const std::function<void(Plan&)>& damage, Diag diag = Diag::BadPlan) {
  Plan plan = samplePlan();
  damage(plan);
  auto status = check(plan);
  REQUIRE(!status);
  CHECK(status.error().diag == diag);
  return status.error().message;
}

}  // namespace

TEST_CASE("check: files and paths") {
  for (const char* path : {"../kernels.so", "/etc/passwd", "a/b", "..", ".", "", "a\\b"})
    refusal([&](Plan& p) { p.files[0].path = path; }, Diag::PlanPath);
  refusal([](Plan& p) { p.files[0].path = "plan.json"; });
  refusal([](Plan& p) { p.files[1].path = "kernels.so"; });
  refusal([](Plan& p) { p.files[0].sha256 = "abc"; });
  refusal([](Plan& p) { p.version = kPlanVersion - 1; });
}

TEST_CASE("check: constants, variables and buffers") {
  refusal([](Plan& p) { p.constants[0].file = 0; });
  refusal([](Plan& p) { p.constants[0].file = 7; });
  refusal([](Plan& p) { p.constants[0].offset = 32; });
  refusal([](Plan& p) { p.constants[1].offset = 128; });
  refusal([](Plan& p) { p.constants[1].bytes = UINT64_MAX; });
  refusal([](Plan& p) { p.variables[1].name = "n"; });
  refusal([](Plan& p) { p.variables[0].min = 17; });
  refusal([](Plan& p) { p.variables[1].value = 5; });
  refusal([](Plan& p) { p.variables[1].name = "a`b"; });
  refusal([](Plan& p) { p.buffers[2].offset = 65; });
  refusal([](Plan& p) { p.buffers[2].offset = 512; });
  refusal([](Plan& p) { p.buffers[2].offset = UINT64_MAX - 63; });
  refusal([](Plan& p) { p.buffers[0].shape = {17}; });
  refusal([](Plan& p) { p.buffers[0].shape = {UINT64_C(1) << 62, 4}; });
  refusal([](Plan& p) { p.buffers[3].constant = 2; });
  refusal([](Plan& p) { p.buffers[3].bytes = 65; });
  refusal([](Plan& p) { p.buffers[5].base = 5; });
  refusal([](Plan& p) { p.buffers[5].base = 9; });
  refusal([](Plan& p) { p.buffers[5].offset = 36; });
  refusal([](Plan& p) { p.buffers[5].offset = 2; });
}

TEST_CASE("check: expectations") {
  refusal([](Plan& p) { p.expectations[0].buffer = 8; });
  refusal([](Plan& p) { p.expectations[0].buffer = 2; });
  refusal([](Plan& p) { p.buffers[7].dtype = ElementType::U64; });
  refusal([](Plan& p) { p.buffers[7].shape = {4}; });
  refusal([](Plan& p) { p.buffers[7].shape = {1, 4}; });
}

TEST_CASE("check: kernels and steps") {
  refusal([](Plan& p) { p.kernels[0].file = 1; });
  refusal([](Plan& p) { p.kernels[0].symbol = ""; });
  refusal([](Plan& p) { p.kernels[0].tiles = Expr::variable(1); });
  refusal([](Plan& p) { p.kernels[0].args[0].mode = static_cast<Mode>(0); });
  refusal([](Plan& p) { p.kernels[0].args[0].bytes = 65; });
  refusal([](Plan& p) { action<Launch>(p, 0).kernel = 1; });
  refusal([](Plan& p) { action<Launch>(p, 0).buffers[1] = 9; });
  refusal([](Plan& p) { action<Launch>(p, 0).buffers.pop_back(); });
  refusal([](Plan& p) { action<Launch>(p, 0).values.clear(); });
  refusal([](Plan& p) { action<Launch>(p, 0).values[0] = Expr::variable(3); });
  CHECK(refusal([](Plan& p) {
          action<Launch>(p, 0).values[0] = Expr::variable(2);
        }).find("outside its loop") != std::string::npos);
  CHECK(refusal([](Plan& p) { action<Launch>(p, 0).buffers[1] = 0; }).find("read-only") != std::string::npos);
  CHECK(refusal([](Plan& p) { action<Copy>(p, 1).dst = 3; }).find("read-only") != std::string::npos);
  refusal([](Plan& p) { action<Copy>(p, 1).bytes = 65; });
  refusal([](Plan& p) { action<Copy>(p, 1).bytes = -1; });
  refusal([](Plan& p) { action<HostCall>(p, 2).args[0].buffer = 9; });
  refusal([](Plan& p) { action<HostCall>(p, 2).function = ""; });
  refusal([](Plan& p) { action<HostCall>(p, 2).args[0].shape = {Expr::variable(3)}; });
  refusal([](Plan& p) { action<HostCall>(p, 2).values = {Expr::variable(2)}; });
  refusal([](Plan& p) { action<Loop>(p, 3).variable = 0; });
  refusal([](Plan& p) { action<Loop>(p, 3).length = 3; });
  CHECK(refusal([](Plan& p) {
          p.steps.push_back({{}, Loop{2, Expr(1), 0}});
        }).find("another loop") != std::string::npos);
  refusal([](Plan& p) { p.steps[1].deps = {1}; });
  refusal([](Plan& p) { p.steps[1].deps = {0, 0}; });
  refusal([](Plan& p) { p.steps[4].deps = {0}; });
  CHECK(refusal([](Plan& p) {
          p.steps.push_back({{5}, p.steps[1].action});
        }).find("border of a loop") != std::string::npos);
}

TEST_CASE("check: only what is done in place shares bytes") {
  refusal([](Plan& p) { p.memory.inPlace[0].source = 7; });
  refusal([](Plan& p) { p.memory.inPlace[0].result = 0; });
  refusal([](Plan& p) { p.buffers[6].offset = 128; });
  const auto addLaunch = [](Plan& p) { p.steps.push_back({{1, 2, 3}, Launch{0, {2, 6}, {Expr(1)}}}); };
  Plan plan = samplePlan();
  addLaunch(plan);
  CHECK(check(plan));
  CHECK(refusal([&](Plan& p) {
          addLaunch(p);
          p.memory.inPlace.clear();
        }).find("'t2' and 't' share bytes") != std::string::npos);
}

TEST_CASE("check: inputs, outputs and states") {
  refusal([](Plan& p) { p.inputs[0].buffer = 1; });
  refusal([](Plan& p) { p.inputs[0].buffer = 99; });
  refusal([](Plan& p) { p.inputs[0].name = ""; });
  refusal([](Plan& p) { p.inputs.clear(); });
  refusal([](Plan& p) { p.inputs.push_back({"x2", 0, {Expr(1)}}); });
  refusal([](Plan& p) { p.inputs[0].shape = {Expr(17)}; });
  refusal([](Plan& p) { p.inputs[0].shape = {}; });
  refusal([](Plan& p) { p.outputs[0].shape = {Expr::variable(2)}; });
  refusal([](Plan& p) { p.states[0].init = 1; });
  refusal([](Plan& p) { p.states[0].init = 9; });
}

TEST_CASE("check: missing order between steps that share bytes") {
  CHECK(refusal([](Plan& p) { p.steps[1].deps = {}; }).find("steps 0 and 1") != std::string::npos);
  CHECK(refusal([](Plan& p) { p.steps[2].deps = {}; }).find("steps 0 and 2") !=
        std::string::npos);  // through a view
  CHECK(refusal([](Plan& p) { p.steps[3].deps = {}; }).find("steps 0 and 3") !=
        std::string::npos);  // inside a loop
  CHECK(refusal([](Plan& p) { p.steps[5].deps = {}; }).find("steps 4 and 5") != std::string::npos);
  CHECK(refusal([](Plan& p) {  // reuse of arena bytes: a second tenant is written while the first may be read
          p.buffers.push_back({"u", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0});
          p.steps.push_back({{0}, Launch{0, {0, 6}, {Expr(1)}}});
        })
            .find("touch the same bytes") != std::string::npos);
}
