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

/// What `check` says of the sample after `damage`, or "" where it finds nothing.
std::string refusal(const std::function<void(Plan&)>& damage, Diag diag = Diag::BadPlan) {
  Plan plan = samplePlan();
  damage(plan);
  auto status = check(plan);
  if (status) return "";
  CHECK(status.error()->diag == diag);
  return status.error()->message;
}

struct Damage {
  std::string message;  // whole
  std::function<void(Plan&)> damage;
};

void checkMessages(const std::vector<Damage>& rows) {
  for (const Damage& row : rows) CHECK(refusal(row.damage) == row.message);
}

}  // namespace

TEST_CASE("check: files and paths") {
  for (const std::string path : {"../kernels.so", "/etc/passwd", "a/b", "..", ".", "", "a\\b"})
    CHECK(refusal([&](Plan& p) { p.files[0].path = path; }, Diag::PlanPath) ==
          "files[0]: '" + path + "' is not a plain file name");
  checkMessages({
      {"files[0]: 'plan.json' is listed twice", [](Plan& p) { p.files[0].path = "plan.json"; }},
      {"files[1]: 'kernels.so' is listed twice", [](Plan& p) { p.files[1].path = "kernels.so"; }},
      {"files[0]: the SHA-256 is malformed", [](Plan& p) { p.files[0].sha256 = "abc"; }},
      {"files[0]: the size is too large", [](Plan& p) { p.files[0].bytes = UINT64_MAX; }},
      {"version: 0, not 9 to " + std::to_string(kPlanVersion), [](Plan& p) { p.version = 0; }},
  });
}

TEST_CASE("check: constants and variables") {
  checkMessages({
      {"constants[0]: its file 'kernels.so' holds no weights", [](Plan& p) { p.constants[0].file = 0; }},
      {"constants[0]: there is no file 7 of 2", [](Plan& p) { p.constants[0].file = 7; }},
      {"constants[0]: the offset is not a multiple of 64", [](Plan& p) { p.constants[0].offset = 32; }},
      {"constants[1]: it lies outside its file: bytes 128 to 320 of 256", [](Plan& p) { p.constants[1].offset = 128; }},
      {"constants[1]: it lies outside its file: bytes 64 to 63 of 256",
       [](Plan& p) { p.constants[1].bytes = UINT64_MAX; }},
      {"variables[1]: 'n' is there twice", [](Plan& p) { p.variables[1].name = "n"; }},
      {"variables[1]: the name is empty", [](Plan& p) { p.variables[1].name = ""; }},
      {"variables[0]: the minimum 17 is above the maximum 16", [](Plan& p) { p.variables[0].min = 17; }},
      {"variables[1]: the value 5 lies outside the bounds 1..4", [](Plan& p) { p.variables[1].value = 5; }},
      {"variables[1]: a backquote in the name", [](Plan& p) { p.variables[1].name = "a`b"; }},
  });
}

TEST_CASE("check: buffers") {
  checkMessages({
      {"buffers[2]: the arena offset is not a multiple of 64", [](Plan& p) { p.buffers[2].offset = 65; }},
      {"buffers[2]: it lies outside the arena: bytes 512 to 576 of 512", [](Plan& p) { p.buffers[2].offset = 512; }},
      {"buffers[2]: it lies outside the arena: bytes 18446744073709551552 to 0 of 512",
       [](Plan& p) { p.buffers[2].offset = UINT64_MAX - 63; }},
      {"buffers[0]: the shape does not fit 64 bytes", [](Plan& p) { p.buffers[0].shape = {17}; }},
      {"buffers[0]: the shape does not fit 64 bytes", [](Plan& p) { p.buffers[0].shape = {UINT64_C(1) << 62, 4}; }},
      {"buffers[3]: there is no constant 2 of 2", [](Plan& p) { p.buffers[3].constant = 2; }},
      {"buffers[3]: it is larger than its constant: bytes 0 to 65 of 64", [](Plan& p) { p.buffers[3].bytes = 65; }},
  });
}

TEST_CASE("check: a bad view is described") {
  checkMessages({
      {"buffers[5]: a view whose base, buffer 5, is a view itself", [](Plan& p) { p.buffers[5].base = 5; }},
      {"buffers[5]: a view whose base is missing: there is no buffer 9 of 9", [](Plan& p) { p.buffers[5].base = 9; }},
      {"buffers[5]: a view that reaches beyond its base, buffer 2: bytes 36 to 68 of 64",
       [](Plan& p) { p.buffers[5].offset = 36; }},
      {"buffers[5]: a view at byte 2 is not aligned for its dtype", [](Plan& p) { p.buffers[5].offset = 2; }},
  });
}

TEST_CASE("check: sizes that must be equal") {
  checkMessages({
      {"equalSizes[0]: a size names variable 3, which is that of a loop, or not there",
       [](Plan& p) { p.equalSizes[0].a = Expr::variable(3); }},
      {"equalSizes[0]: a size names variable 2, which is that of a loop, or not there",
       [](Plan& p) { p.equalSizes[0].b = Expr::variable(2) + 1; }},
  });
}

TEST_CASE("check: expectations") {
  checkMessages({
      {"expectations[0]: buffer 9 is no i64 [2, n] of the host's arena", [](Plan& p) { p.expectations[0].buffer = 9; }},
      {"expectations[0]: buffer 2 is no i64 [2, n] of the host's arena", [](Plan& p) { p.expectations[0].buffer = 2; }},
      {"expectations[0]: buffer 7 is no i64 [2, n] of the host's arena",
       [](Plan& p) { p.buffers[7].dtype = ElementType::U64; }},
      {"expectations[0]: buffer 7 is no i64 [2, n] of the host's arena", [](Plan& p) { p.buffers[7].shape = {4}; }},
      {"expectations[0]: buffer 7 is no i64 [2, n] of the host's arena", [](Plan& p) { p.buffers[7].shape = {1, 4}; }},
  });
}

TEST_CASE("check: an inconsistent kernel is described") {
  checkMessages({
      {"kernels[0]: its file 'weights.bin' holds no code", [](Plan& p) { p.kernels[0].file = 1; }},
      {"kernels[0]: there is no file 2 of 2", [](Plan& p) { p.kernels[0].file = 2; }},
      {"kernels[0]: the symbol is empty", [](Plan& p) { p.kernels[0].symbol = ""; }},
      {"kernels[0]: an expression names a value beyond the 1 of the kernel",
       [](Plan& p) { p.kernels[0].tiles = Expr::variable(1); }},
      {"kernels[0]: argument 0 is neither read nor written, or too large",
       [](Plan& p) { p.kernels[0].args[0].mode = static_cast<Mode>(0); }},
      {"kernels[0]: the scratch size is too large", [](Plan& p) { p.kernels[0].scratchBytes = UINT64_MAX; }},
  });
}

TEST_CASE("check: devices") {
  checkMessages({
      {"devices: there is no host", [](Plan& p) { p.devices.clear(); }},
      {"devices[1]: 'cpu' is there twice", [](Plan& p) { p.devices[1].name = "cpu"; }},
      {"devices[1]: the name is empty", [](Plan& p) { p.devices[1].name = ""; }},
      {"devices: more than 64", [](Plan& p) { p.devices.resize(65); }},
      {"devices[1]: the arena is too large", [](Plan& p) { p.devices[1].arenaBytes = UINT64_MAX; }},
      {"buffers[8]: there is no device 2 of 2", [](Plan& p) { p.buffers[8].device = 2; }},
      {"buffers[8]: it lies outside the arena: bytes 128 to 192 of 128", [](Plan& p) { p.buffers[8].offset = 128; }},
      {"expectations[0]: buffer 7 is no i64 [2, n] of the host's arena",
       [](Plan& p) { p.buffers[7].device = 1, p.buffers[7].offset = 0; }},
      {"memory.inPlace[0]: buffers 2 and 6 are no two of the arena at one place",
       [](Plan& p) { p.buffers[6].device = 1; }},
      {"steps[0]: 'add' has buffers on 'cpu' and on 'other'", [](Plan& p) { action<Launch>(p, 0).buffers[1] = 8; }},
      {"steps[2]: 'd' is not in the memory of the host", [](Plan& p) { action<HostCall>(p, 2).args[0].buffer = 8; }},
      {"steps[3]: 'd' is not in the memory of the host", [](Plan& p) { action<Loop>(p, 3).condition = BufferId(8); }},
  });
}

TEST_CASE("check: an inconsistent grid, image or tensor map is described") {
  const auto says = [](const std::string& message, const std::function<void(Plan&)>& damage) {
    Plan plan = sampleGridPlan();
    damage(plan);
    const Status status = check(plan);
    CHECK((status ? "" : status.error()->message) == message);
  };
  const auto grid = [](Plan& p) -> Grid& { return *p.kernels[1].grid; };
  const auto map = [](Plan& p) -> TensorMap& { return p.kernels[1].grid->tensorMaps[0]; };
  says("", [](Plan&) {});
  says("devices[0]: the host is no 'gpu'", [](Plan& p) { p.devices[0].kind = "gpu"; });
  says("devices[2]: the kind is empty", [](Plan& p) { p.devices[2].kind = ""; });
  says("devices[1]: a device of kind cpu has one arena", [](Plan& p) { p.devices[1].sharedBytes = 64; });
  says("buffers[9]: it lies outside the arena: bytes 64 to 128 of 64", [](Plan& p) { p.buffers[9].offset = 64; });
  says("files[2]: an image is for a kind of device besides cpu, and an architecture of it",
       [](Plan& p) { p.files[2].image.device = "cpu"; });
  says("files[3]: an image is for a kind of device besides cpu, and an architecture of it",
       [](Plan& p) { p.files[3].image.arch = ""; });
  says("kernels[0]: its file 'kernels.bin' holds no code", [](Plan& p) { p.kernels[0].file = 2; });
  says("kernels[1]: no image holds it", [&](Plan& p) { grid(p).images.clear(); });
  says("kernels[1]: there is no file 4 of 4", [&](Plan& p) { grid(p).images[1].file = 4; });
  says("kernels[1]: its file 'kernels.so' is no image", [&](Plan& p) { grid(p).images[1].file = 0; });
  says("kernels[1]: 'kernels.bin' is its second image for gpu:arch_9", [&](Plan& p) { grid(p).images[1].file = 2; });
  says("kernels[1]: the image 'kernels.bin' needs too much memory",
       [&](Plan& p) { grid(p).images[0].sharedBytes = UINT64_MAX; });
  says("kernels[1]: the memory of a workgroup is too large", [&](Plan& p) { grid(p).sharedBytes = UINT64_MAX; });
  says("kernels[1]: a workgroup has not from 1 to 65536 threads", [&](Plan& p) { grid(p).threads[2] = 0; });
  says("kernels[1]: a workgroup has not from 1 to 65536 threads", [&](Plan& p) { grid(p).threads[0] = 1 << 16; });
  says("kernels[1]: an expression names a value beyond the 1 of the kernel",
       [&](Plan& p) { grid(p).groups[2] = Expr::variable(1); });
  says("kernels[1]: an attribute has no name", [&](Plan& p) { grid(p).attributes[0].name = ""; });
  says("kernels[1]: the attribute 'cluster.x' is there twice",
       [&](Plan& p) { grid(p).attributes.push_back({"cluster.x", 1}); });
  says("kernels[1].tensorMaps[0]: there is no argument 2 of 2", [&](Plan& p) { map(p).arg = 2; });
  says("kernels[1].tensorMaps[0]: its lists are not those of 1 to 5 axes", [&](Plan& p) { map(p).box.pop_back(); });
  says("kernels[1].tensorMaps[0]: its lists are not those of 1 to 5 axes", [&](Plan& p) { map(p).dims.clear(); });
  says("kernels[1].tensorMaps[0]: a box or step is not from 1 to 256", [&](Plan& p) { map(p).box[0] = 257; });
  says("kernels[1].tensorMaps[0]: a box or step is not from 1 to 256", [&](Plan& p) { map(p).step[1] = 0; });
  says("kernels[1].tensorMaps[0]: the offset 68 is no place in its argument", [&](Plan& p) { map(p).offset = 68; });
  says("kernels[1].tensorMaps[0]: the offset 2 is no place in its argument", [&](Plan& p) { map(p).offset = 2; });
  says("kernels[1].tensorMaps[0]: no rows of 48 bytes are permuted", [&](Plan& p) { map(p).swizzleBytes = 48; });
  says("kernels[1].tensorMaps[0]: an expression names a value beyond the 1 of the kernel",
       [&](Plan& p) { map(p).strides[0] = Expr::variable(1); });
  says("steps[8]: 'k_grid' is no kernel for device 'other', of kind cpu", [](Plan& p) {
    p.buffers[9].device = p.buffers[10].device = 1;
    p.buffers[9].space = MemorySpace::Device, p.buffers[9].offset = p.buffers[10].offset = 0;
  });
  says("steps[8]: 'add' is no kernel for device 'far', of kind gpu", [](Plan& p) { action<Launch>(p, 8).kernel = 0; });
}

TEST_CASE("check: two arenas of a device are bytes of their own") {
  const auto second = [](MemorySpace space) {
    Plan plan = sampleGridPlan();
    plan.devices[2].sharedBytes = 128;
    plan.buffers.push_back({"more", ElementType::F32, {16}, 64, Place::Arena, 0, 0, 0, 2, space});
    plan.steps.push_back({{}, Copy{11, 0, 64}});
    return check(plan);
  };
  CHECK(second(MemorySpace::Device));
  REQUIRE(!second(MemorySpace::Shared));
  CHECK_THAT(second(MemorySpace::Shared).error()->message, Catch::Contains("touch the same bytes"));
}

TEST_CASE("check: bytes of one offset on two devices are no hazard, on one device they are") {
  const auto write = [](Plan& p, DeviceId device) {
    p.buffers.push_back({"d2", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0, device});
    p.steps.push_back({{1, 2, 3}, Copy{9, 0, 64}});
  };
  CHECK(refusal([&](Plan& p) { write(p, 0); }) == "");
  CHECK_THAT(refusal([&](Plan& p) { write(p, 1); }), Catch::Contains("steps 6 and 7 touch the same bytes"));
}

TEST_CASE("check: an argument that does not fit is described") {
  checkMessages({
      {"steps[0]: 'x', of 64 bytes, does not fit argument 0 of 'add', of 65",
       [](Plan& p) { p.kernels[0].args[0].bytes = 65; }},
      {"steps[0]: there is no buffer 9 of 9", [](Plan& p) { action<Launch>(p, 0).buffers[1] = 9; }},
      {"steps[0]: 'add' takes 2 buffers and 1 values, not 1 buffers and 1 values",
       [](Plan& p) { action<Launch>(p, 0).buffers.pop_back(); }},
      {"steps[0]: 'add' takes 2 buffers and 1 values, not 2 buffers and 0 values",
       [](Plan& p) { action<Launch>(p, 0).values.clear(); }},
      {"steps[0]: there is no variable 3 of 3", [](Plan& p) { action<Launch>(p, 0).values[0] = Expr::variable(3); }},
      {"steps[0]: 'i' is used outside its loop", [](Plan& p) { action<Launch>(p, 0).values[0] = Expr::variable(2); }},
      {"steps[0]: it writes to 'x', which is read-only", [](Plan& p) { action<Launch>(p, 0).buffers[1] = 0; }},
      {"steps[2]: there is no buffer 9 of 9", [](Plan& p) { action<HostCall>(p, 2).args[0].buffer = 9; }},
      {"steps[2]: there is no variable 3 of 3",
       [](Plan& p) { action<HostCall>(p, 2).args[0].shape = {Expr::variable(3)}; }},
      {"steps[2]: 'i' is used outside its loop", [](Plan& p) { action<HostCall>(p, 2).values = {Expr::variable(2)}; }},
  });
}

TEST_CASE("check: a step that cannot be done is described with its number") {
  checkMessages({
      {"steps[0]: there is no kernel 1 of 1", [](Plan& p) { action<Launch>(p, 0).kernel = 1; }},
      {"steps[1]: it writes to 'w', which is read-only", [](Plan& p) { action<Copy>(p, 1).dst = 3; }},
      {"steps[1]: it copies 65 bytes between buffers of 64", [](Plan& p) { action<Copy>(p, 1).bytes = 65; }},
      {"steps[1]: it copies -1 bytes between buffers of 64", [](Plan& p) { action<Copy>(p, 1).bytes = -1; }},
      {"steps[2]: the function has no name", [](Plan& p) { action<HostCall>(p, 2).function = ""; }},
      {"steps[3]: 'n' is no variable of a loop", [](Plan& p) { action<Loop>(p, 3).variable = 0; }},
      {"steps[3]: there is no variable 4 of 3", [](Plan& p) { action<Loop>(p, 3).variable = 4; }},
      {"steps[3]: its condition 't' is no bool", [](Plan& p) { action<Loop>(p, 3).condition = BufferId(2); }},
      {"steps[3]: its body of 4 steps ends outside the enclosing one", [](Plan& p) { action<Loop>(p, 3).length = 4; }},
      {"steps[7]: 'i' belongs to another loop", [](Plan& p) { p.steps.push_back({{}, Loop{2, Expr(1), 0}}); }},
  });
}

TEST_CASE("check: a wrong dependency is described with both steps") {
  checkMessages({
      {"steps[1]: the dependency on step 1, which is no earlier one", [](Plan& p) { p.steps[1].deps = {1}; }},
      {"steps[1]: the dependency on step 7, which is no earlier one", [](Plan& p) { p.steps[1].deps = {0, 7}; }},
      {"steps[1]: the dependency on step 0 comes behind that on 0", [](Plan& p) { p.steps[1].deps = {0, 0}; }},
      {"steps[4]: the dependency on step 0 crosses the border of a loop", [](Plan& p) { p.steps[4].deps = {0}; }},
      {"steps[7]: the dependency on step 5 crosses the border of a loop",
       [](Plan& p) { p.steps.push_back({{5}, p.steps[1].action}); }},
  });
}

TEST_CASE("check: only what is done in place shares bytes") {
  const auto addLaunch = [](Plan& p) { p.steps.push_back({{1, 2, 3}, Launch{0, {2, 6}, {Expr(1)}, {}}}); };
  CHECK(refusal(addLaunch) == "");
  checkMessages({
      {"memory.inPlace[0]: buffers 7 and 6 are no two of the arena at one place",
       [](Plan& p) { p.memory.inPlace[0].source = 7; }},
      {"memory.inPlace[0]: buffers 2 and 0 are no two of the arena at one place",
       [](Plan& p) { p.memory.inPlace[0].result = 0; }},
      {"memory.inPlace[0]: buffers 2 and 6 are no two of the arena at one place",
       [](Plan& p) { p.buffers[6].offset = 128; }},
      {"steps[7]: 't2' and 't' share bytes",
       [&](Plan& p) {
         addLaunch(p);
         p.memory.inPlace.clear();
       }},
  });
}

TEST_CASE("check: an arena that is laid out for every run") {
  const auto refusalOf = [](const std::function<void(Plan&)>& damage) {
    return refusal([&](Plan& p) {
      p = sampleRunPlan();
      damage(p);
    });
  };
  CHECK(refusalOf([](Plan&) {}) == "");
  const std::vector<Damage> rows = {
      {"buffers[2]: units 1 to 1 of an arena", [](Plan& p) { p.buffers[2].run->begin = 1; }},
      {"buffers[7]: units 1 to 4294967295 of an arena", [](Plan& p) { p.buffers[7].run->end = UINT32_MAX; }},
      {"buffers[2]: the size names variable 2, which is that of a loop, or not there",
       [](Plan& p) { p.buffers[2].run->bytes = Expr::variable(2); }},
      {"buffers[6]: it has no place among the units of its arena", [](Plan& p) { p.buffers[6].run.reset(); }},
      {"devices[0]: its buffers take 128 bytes, the arena has 64", [](Plan& p) { p.devices[0].arenaBytes = 64; }},
      {"memory.inPlace[0]: buffers 2 and 6 are no two of the arena at one place",
       [](Plan& p) { p.buffers[6].run->begin = 1, p.buffers[6].run->end = 2; }},
      {"steps[7]: 't2' and 't' share bytes",
       [](Plan& p) {
         p.steps.push_back({{1, 2, 3}, Launch{0, {2, 6}, {Expr(1)}, {}}});
         p.memory.inPlace.clear();
       }},
      {"steps 0 and 7 touch the same bytes, but no dependency orders them",
       [](Plan& p) {
         p.buffers[6].run = RunPlace{0, 3, 4};
         p.memory.inPlace.clear();
         p.steps.push_back({{}, Launch{0, {0, 6}, {Expr(1)}, {}}});
       }},
      {"steps[0].cases[0]: argument 1 touches other bytes than that of the step",  // a place next to its own
       [](Plan& p) {
         p.buffers[6].run = RunPlace{3, 4, 4};
         p.devices[0].arenaBytes = 192;
         p.memory.inPlace.clear();
         action<Launch>(p, 0).cases = {{{{Expr::variable(0), 1, 1}}, {0, {0, 6}, {Expr(1)}, {}}}};
       }},
  };
  for (const Damage& row : rows) CHECK(refusalOf(row.damage) == row.message);
  CHECK(refusalOf([](Plan& p) {
          action<Launch>(p, 0).cases = {{{{Expr::variable(0), 1, 1}}, {0, {0, 2}, {Expr(1)}, {}}}};
        }) == "");
}

TEST_CASE("check: inputs, outputs and states") {
  checkMessages({
      {"inputs[0]: buffer 1 has another place", [](Plan& p) { p.inputs[0].buffer = 1; }},
      {"inputs[0]: there is no buffer 99 of 9", [](Plan& p) { p.inputs[0].buffer = 99; }},
      {"inputs[0]: the name is empty", [](Plan& p) { p.inputs[0].name = ""; }},
      {"buffers[0]: no input, output or state owns it", [](Plan& p) { p.inputs.clear(); }},
      {"inputs[1]: buffer 0 has another owner", [](Plan& p) { p.inputs.push_back({"x2", 0, {Expr(1)}}); }},
      {"inputs[0]: axis 0 of 17 does not fit the 16 of its buffer", [](Plan& p) { p.inputs[0].shape = {Expr(17)}; }},
      {"inputs[0]: it has 0 axes, its buffer 1", [](Plan& p) { p.inputs[0].shape = {}; }},
      {"outputs[0]: the shape names variable 2, which is that of a loop, or not there",
       [](Plan& p) { p.outputs[0].shape = {Expr::variable(2)}; }},
      {"states[0]: its first contents have 192 bytes, its buffer 64",
       [](Plan& p) { p.states[0].init = ConstantId(1); }},
      {"buffers[4]: the shape does not fit 128 bytes", [](Plan& p) { p.buffers[p.states[0].buffer].bytes = 128; }},
      {"states[0]: there is no constant 9 of 2", [](Plan& p) { p.states[0].init = ConstantId(9); }},
  });
}

TEST_CASE("check: missing order between steps that share bytes") {
  const std::vector<std::pair<std::string, std::function<void(Plan&)>>> rows = {
      {"steps 0 and 1", [](Plan& p) { p.steps[1].deps = {}; }},
      {"steps 0 and 2", [](Plan& p) { p.steps[2].deps = {}; }},  // through a view
      {"steps 0 and 3", [](Plan& p) { p.steps[3].deps = {}; }},  // inside a loop
      {"steps 4 and 5", [](Plan& p) { p.steps[5].deps = {}; }},
      {"touch the same bytes",  // reuse of arena bytes: a second tenant is written while the first may be read
       [](Plan& p) {
         p.buffers.push_back({"u", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0});
         p.steps.push_back({{0}, Launch{0, {0, 6}, {Expr(1)}, {}}});
       }},
  };
  for (const auto& [part, damage] : rows) CHECK_THAT(refusal(damage), Catch::Contains(part));
}

TEST_CASE("check: cases of launches") {
  REQUIRE(check(sampleCasesPlan()));
  const auto says = [](const std::string& message, const std::function<void(LaunchCase&, Plan&)>& damage) {
    Plan plan = sampleCasesPlan();
    damage(action<Launch>(plan, 5).cases[0], plan);
    auto status = check(plan);
    REQUIRE(!status);
    CHECK(status.error()->message == message);
  };
  using Case = LaunchCase;
  says("steps[5].cases[0]: nothing says when it holds", [](Case& c, Plan&) { c.when.clear(); });
  says("steps[5].cases[0]: the minimum 2 is above the maximum 1", [](Case& c, Plan&) { c.when[0].min = 2; });
  says("steps[5].cases[0]: there is no variable 3 of 3", [](Case& c, Plan&) { c.when[0].size = Expr::variable(3); });
  says("steps[5].cases[0]: 'i' is known in its loop only", [](Case& c, Plan&) { c.when[0].size = Expr::variable(2); });
  says("steps[5].cases[0]: it has cases of its own",
       [](Case& c, Plan& p) { c.launch.cases = action<Launch>(p, 0).cases; });
  says("steps[5].cases[0]: there is no kernel 7 of 2", [](Case& c, Plan&) { c.launch.kernel = 7; });
  says("steps[5].cases[0]: argument 1 touches other bytes than that of the step",
       [](Case& c, Plan&) { c.launch.buffers[1] = 2; });
  says("steps[5].cases[0]: argument 1 touches other bytes than that of the step",
       [](Case&, Plan& p) { p.kernels[1].args[1].mode = Mode::ReadWrite; });
  says("steps[0].cases[0]: 'add' takes 2 buffers and 1 values, not 2 buffers and 0 values",
       [](Case&, Plan& p) { action<Launch>(p, 0).cases[0].launch.values.clear(); });
}
