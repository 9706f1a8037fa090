// Graphs whose values are copied to devices: the same results wherever they are computed, with memory that the host
// cannot read and queues that run late.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "common/random_graph.h"
#include "e2e/graph_text.h"
#include "e2e/seeds.h"
#include "emulated/emulated_device.h"
#include "frontend/frontend.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

using namespace svod;

namespace {

/// What a kernel makes.
bool mayBeCopied(UOp n) {
  const bool isValue =
      isElementwise(n.op()) || n.op() == Op::Reduce || n.op() == Op::Gather || n.op() == Op::Contiguous;
  return isValue && n.dtype() != DType::Index && n.dtype() != DType::Void;
}

/// Copies some values to devices of the model, drawn by `seed`; returns how many.
int scatter(Model& model, uint64_t seed) {
  Draw draw(seed);
  const int percents[] = {5, 20, 60};
  const int percent = draw.of(percents);
  std::vector<UOp> nodes = toposort(model.sink), made(model.graph->size()), src;
  int copies = 0;
  for (UOp n : nodes) {
    src.clear();
    for (UOp s : n.src()) src.push_back(made[s.id()]);
    made[n.id()] = std::ranges::equal(src, n.src()) ? n : model.graph->make(n.op(), n.dtype(), src, n.arg());
    if (!mayBeCopied(n) || !draw.chance(percent)) continue;
    const NameArg device{draw.of(model.devices)};
    made[n.id()] = model.graph->make(Op::Copy, n.dtype(), {made[n.id()]}, device);
    ++copies;
  }
  model.sink = made[model.sink.id()];
  return copies;
}

bool launchesOnEvery(const Plan& plan) {
  std::vector<bool> isUsed(plan.devices.size(), false);
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      for (BufferId id : launch->buffers) isUsed[plan.buffers[id].device] = true;
  return std::ranges::count(isUsed, false) == 0;
}

RandomOptions drawn(uint64_t seed) {
  RandomOptions options;
  options.loops = seed % 3 == 0;
  options.edges = seed % 3 == 1;
  options.steps = 14;
  return options;
}

/// A device with workgroups for those that the plan has.
std::unique_ptr<SeparateDevice> deviceFor(const DeviceDesc& device, uint32_t seed, uint32_t mostMicroseconds) {
  if (device.kind == DeviceKind::Cpu) return std::make_unique<SeparateDevice>(seed, mostMicroseconds);
  return std::make_unique<EmulatedDevice>(seed, mostMicroseconds);
}

/// Compiled for another target than the host.
DeviceTarget emulated(const std::string& name) {
  const Target* target = *targetByName("emulated");
  return {name, target, *target->machine("", "")};
}

std::string check(uint64_t seed, const std::vector<DeviceTarget>& others) {
  Model model = randomModel(seed, drawn(seed));
  const ModelBindings bindings = randomBindings(model, seed, drawn(seed));
  auto expected = interpret(model, bindings);
  if (!expected) return toText(expected.error());
  model.devices.insert(model.devices.end(), {"a", "b"});
  scatter(model, seed);
  RunOptions options;
  options.numerics = Numerics::Strict;
  options.optLevel = static_cast<int>(seed % 2);
  options.memory = static_cast<MemoryMode>(seed % 5 == 0 ? 1 + seed % 2 : 0);
  options.execute.deviceSeed = static_cast<uint32_t>(seed);
  options.execute.threads = 1 + seed % 3;
  options.execute.orderSeed = seed % 4;
  options.execute.separate = false;
  options.devices = others;
  options.execute.makeDevice = deviceFor;
  auto actual = runPlan(model, bindings, options);
  if (!actual) return toText(actual.error()) + "\n" + toUopText(model.sink);
  for (size_t i = 0; i < model.ports.size(); ++i)
    if (isResult(model.ports[i]) && !sameValues((*expected)[i], (*actual)[i], true))
      return "port " + model.ports[i].name + ": " + difference((*expected)[i], (*actual)[i], 0) + "\n" +
             toUopText(model.sink);
  return "";
}

Result<Model> modelOn(const std::string& text, std::vector<std::string> devices) {
  SVOD_TRY(GraphFile file, parseGraph("svod 1\n" + text, "test"));
  LoadOptions options;
  options.devices = std::move(devices);
  return buildModel(file, options);
}

constexpr const char* kTwoDevices = R"(
var n in [0, 9]
input x: f32[n, 8]
input w: f32[8, 8]
state total: f32[8] = 0
here = copy(x, device="a")
y = relu(here @ copy(w, device="a"))
there = copy(y, device="b")
z = softmax(there * 2 + sum(there, axes=[0], keepdims=true), axis=1)
assign total = total + sum(z, axes=[0])
output back = copy(z, device="cpu") + x
output both = here + there
)";

}  // namespace

TEST_CASE("random graphs whose values are copied to random devices equal the interpreter bit for bit") {
  forSeeds(150, {1180}, [](uint64_t seed) { return check(seed, {}); });
}

TEST_CASE("random graphs over a host, a device like it and one with workgroups equal the interpreter bit for bit") {
  forSeeds(150, {}, [](uint64_t seed) { return check(seed, {emulated("b")}); });
}

TEST_CASE("a kernel is compiled for the target of the device it runs on, once for each") {
  Result<Model> model = modelOn(R"(
input x: f32[4, 8]
here = relu(contiguous(x))
near = relu(copy(x, device="a"))
far = relu(copy(x, device="b"))
output y = copy(near, device="cpu") + copy(far, device="cpu") + here
)",
                                {"a", "b"});
  REQUIRE(model);
  RunOptions options;
  options.devices = {emulated("b")};
  options.execute.deviceSeed = 3;
  options.execute.makeDevice = deviceFor;
  auto compiled = compile(*model, compileOptions(options));
  if (!compiled) FAIL(toText(compiled.error()));
  const Plan& plan = (*compiled)->plan;
  REQUIRE(plan.devices.size() == 3);
  CHECK(plan.devices[1].kind == DeviceKind::Cpu);
  CHECK(plan.devices[2].kind == "emulated");
  CHECK(plan.target.triple == hostTriple());
  std::set<std::string> code, images;
  for (const Step& step : plan.steps) {
    const auto* launch = std::get_if<Launch>(&step.action);
    if (launch == nullptr) continue;
    const KernelDesc& kernel = plan.kernels[launch->kernel];
    CHECK(kernel.grid.has_value() == (deviceOf(plan, *launch) == DeviceId(2)));
    (kernel.grid ? images : code)
        .insert((*compiled)->files[kernel.grid ? kernel.grid->images[0].file : kernel.file].path);
  }
  CHECK(code == std::set<std::string>{"kernels.so"});
  CHECK_FALSE(images.empty());
  for (const std::string& path : images) CHECK(path.ends_with(".uop"));
  const ModelBindings bindings = bindingsOf(*model, 0);
  auto expected = interpret(*model, bindings);
  REQUIRE(expected);
  auto actual = runPlan(*model, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(*model, *expected, *actual);
}

TEST_CASE("kernels run where their operands are, and transfers are steps") {
  for (int64_t n : {0, 1, 5, 9}) {
    Result<Model> model = modelOn(kTwoDevices, {"a", "b"});
    REQUIRE(model);
    const ModelBindings bindings = bindingsOf(*model, n);
    auto expected = interpret(*model, bindings);
    REQUIRE(expected);
    for (uint32_t seed = 0; seed < 4; ++seed) {
      RunOptions options;
      options.execute.deviceSeed = seed;
      options.execute.threads = 1 + seed;
      auto actual = runPlan(*model, bindings, options);
      if (!actual) FAIL(toText(actual.error()));
      checkEqual(*model, *expected, *actual);
    }
    auto compiled = compile(*model, compileOptions({}));
    REQUIRE(compiled);
    const Plan& plan = (*compiled)->plan;
    CHECK(plan.devices.size() == 3);
    CHECK(launchesOnEvery(plan));
    for (const DeviceDesc& device : plan.devices) CHECK(device.arenaBytes > 0);
  }
}

TEST_CASE("a kernel whose operands are on several devices runs on the first of them that is not the host") {
  Result<Model> model = modelOn(R"(
input x: f32[8]
p = contiguous(copy(x, device="a") * 2)
q = contiguous(copy(x, device="b") * 3)
output first = copy(exp(p - q), device="cpu")
output second = copy(exp(q - p) * 2, device="cpu")
output third = copy(sum(exp(x - q)), device="cpu")
output fourth = copy(exp(x * 5), device="b")
)",
                                {"a", "b"});
  REQUIRE(model);
  const ModelBindings bindings = bindingsOf(*model, 0);
  auto expected = interpret(*model, bindings);
  REQUIRE(expected);
  RunOptions options;
  options.execute.deviceSeed = 1;
  auto actual = runPlan(*model, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(*model, *expected, *actual);
  auto compiled = compile(*model, compileOptions(options));
  REQUIRE(compiled);
  const Plan& plan = (*compiled)->plan;
  std::map<std::string, DeviceId> devices;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) {
      const std::string& name = plan.kernels[launch->kernel].name;
      devices[name.substr(0, name.find('_'))] = deviceOf(plan, *launch);
    }
  const DeviceId a = 1, b = 2, host = 0;
  CHECK(devices == std::map<std::string, DeviceId>{
                       {"p", a}, {"q", b}, {"first", a}, {"second", b}, {"third", b}, {"fourth", host}});
}

TEST_CASE("what kernels hand on stays on their device") {
  Result<Model> model = modelOn(
      "input x: f32[32, 32]\na = copy(x, device=\"a\")\nb = a @ a\noutput y = copy(b @ a, device=\"cpu\")\n", {"a"});
  REQUIRE(model);
  auto compiled = compile(*model, compileOptions({}));
  REQUIRE(compiled);
  const Plan& plan = (*compiled)->plan;
  int launches = 0, copies = 0;
  for (const Step& step : plan.steps) {
    copies += static_cast<int>(std::holds_alternative<Copy>(step.action));
    const auto* launch = std::get_if<Launch>(&step.action);
    if (launch == nullptr) continue;
    ++launches;
    for (BufferId id : launch->buffers) CHECK(plan.buffers[id].device == 1);
  }
  CHECK(launches == 2);
  CHECK(copies == 2);  // there and back
}

TEST_CASE("what several devices compute alike is one kernel, whose code is there once") {
  Result<Model> model = modelOn(
      "input x: f32[64]\noutput p = copy(exp(copy(x, device=\"a\")), device=\"cpu\")\n"
      "output q = copy(exp(copy(x, device=\"b\")), device=\"cpu\")\n",
      {"a", "b"});
  REQUIRE(model);
  auto compiled = compile(*model, compileOptions({}));
  REQUIRE(compiled);
  const Plan& plan = (*compiled)->plan;
  CHECK(plan.kernels.size() == 1);
  std::set<uint32_t> devices;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      devices.insert(static_cast<uint32_t>(plan.buffers[launch->buffers[0]].device));
  CHECK(devices.size() == 2);
  const ModelBindings bindings = bindingsOf(*model, 0);
  auto expected = interpret(*model, bindings);
  REQUIRE(expected);
  auto actual = runPlan(*model, bindings, {});
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(*model, *expected, *actual);
}

TEST_CASE("devices that no value is copied to change nothing but the table of devices") {
  const std::string text = "input x: f32[64]\noutput y = sum(exp(x))\n";
  Result<Model> one = modelOn(text, {}), two = modelOn(text, {"a"});
  REQUIRE(one);
  REQUIRE(two);
  auto first = compile(*one, compileOptions({})), second = compile(*two, compileOptions({}));
  REQUIRE(first);
  REQUIRE(second);
  Plan &a = (*first)->plan, &b = (*second)->plan;
  CHECK(b.devices.size() == 2);
  b.devices.resize(1);
  CHECK(a.devices == b.devices);
  CHECK(a.buffers == b.buffers);
  CHECK(a.steps == b.steps);
}

TEST_CASE("a device that nobody declared is an error that says how to") {
  Result<Model> model = modelOn("input x: f32[4]\noutput y = copy(x, device=\"mars\")\n", {"a", "b"});
  REQUIRE_FALSE(model);
  CHECK(model.error()->message.find("there is no device 'mars'") != std::string::npos);
  CHECK(toText(model.error()).find("--device") != std::string::npos);
}

TEST_CASE("a copy to what no device of the model is called is an error of the compiler, not a place beyond them") {
  Result<Model> model = modelOn("input x: f32[4]\noutput y = copy(exp(x), device=\"a\")\n", {"a", "b"});
  REQUIRE(model);
  REQUIRE(compile(*model, compileOptions({})));
  model->devices[1] = "mars";
  auto compiled = compile(*model, compileOptions({}));
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error()->diag == Diag::Verify);
  CHECK_THAT(compiled.error()->message, Catch::Contains("'a'"));
}

namespace {

/// Steps that copy a buffer of this name.
int64_t copiesOf(const Plan& plan, const std::string& name) {
  return std::ranges::count_if(plan.steps, [&](const Step& step) {
    const auto* copy = std::get_if<Copy>(&step.action);
    return copy != nullptr && plan.buffers[copy->src].name == name;
  });
}

/// The plan of a graph that computes the same on devices as the interpreter does.
Plan planOf(const std::string& text, int64_t n) {
  Result<Model> model = modelOn(text, {"a", "b"});
  if (!model) FAIL(toText(model.error()));
  const ModelBindings bindings = bindingsOf(*model, n);
  auto expected = interpret(*model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  RunOptions options;
  options.execute.deviceSeed = 1;
  options.execute.runs = 1;
  auto actual = runPlan(*model, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(*model, *expected, *actual);
  auto compiled = compile(*model, compileOptions(options));
  if (!compiled) FAIL(toText(compiled.error()));
  return std::move((*compiled)->plan);
}

}  // namespace

TEST_CASE("a weight is on every device, and no step copies it there") {
  const Plan plan = planOf(R"(
var n in [0, 9]
input x: f32[n, 4]
weight w: f32[4] = [1, 2, 3, 4]
near = exp(copy(x, device="a")) * copy(w, device="a")
far = copy(sum(near), device="b") + copy(copy(w, device="a"), device="b")
output y = copy(near, device="cpu")
output z = copy(far, device="cpu")
)",
                           5);
  for (const Step& step : plan.steps)
    if (const auto* copy = std::get_if<Copy>(&step.action)) CHECK(plan.buffers[copy->src].place != Place::Constant);
  std::set<DeviceId> readers;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      for (BufferId id : launch->buffers)
        if (plan.buffers[id].place == Place::Constant) readers.insert(deviceOf(plan, *launch));
  CHECK(readers == std::set<DeviceId>{1, 2});
}

TEST_CASE("a weight that is copied to a device stands there in the order in which its kernel reads it") {
  std::string values;
  for (int i = 0; i < 48 * 24; ++i)
    values += (i % 24 > 0 ? ", " : i > 0 ? "], [" : "[[") + std::to_string(i * 37 % 101 - 50);
  const auto compiled = [&](const std::string& text) {
    Result<Model> model =
        modelOn("input x: f32[40, 24]\nweight w: f32[48, 24] = " + values + "]]\n" + text, {"a", "b"});
    if (!model) FAIL(toText(model.error()));
    const ModelBindings bindings = bindingsOf(*model, 0);
    auto expected = interpret(*model, bindings);
    if (!expected) FAIL(toText(expected.error()));
    RunOptions options;
    options.execute.deviceSeed = 1;
    auto actual = runPlan(*model, bindings, options);
    if (!actual) FAIL(toText(actual.error()));
    checkEqual(*model, *expected, *actual);
    auto result = compile(*model, compileOptions(options));
    if (!result) FAIL(toText(result.error()));
    return std::pair(std::move((*result)->plan), std::move((*result)->constants));
  };
  const auto [host, own] = compiled("output y = x @ transpose(w)\n");
  REQUIRE(own.size() == 1);
  const std::string far = "output y = copy(x @ transpose(copy(w, device=\"a\")), device=\"cpu\")\n";
  const std::string other =
      "output z = copy(x @ transpose(copy(copy(w, device=\"a\"), device=\"b\")), device=\"cpu\")\n";
  const std::pair<std::string, size_t> cases[] = {
      {far, 1},
      {far + other, 1},
      {"output v = x @ transpose(w)\n" + far + other, 1},
      {far + "output v = w + 1\n", 2},
      {far + "output v = copy(copy(w, device=\"a\") * 2, device=\"cpu\")\n", 2}};
  for (const auto& [text, count] : cases) {
    const auto [plan, constants] = compiled(text);
    INFO(text);
    CHECK(constants == own);
    CHECK(plan.constants.size() == count);
    for (const Step& step : plan.steps)
      if (const auto* copy = std::get_if<Copy>(&step.action)) CHECK(plan.buffers[copy->src].place != Place::Constant);
    const bool isOnA = std::ranges::any_of(plan.steps, [&plan = plan](const Step& step) {
      const auto* launch = std::get_if<Launch>(&step.action);
      return launch != nullptr && deviceOf(plan, *launch) == DeviceId(1);
    });
    CHECK(isOnA);
  }
}

TEST_CASE(
    "a state that kernels of one device besides the host use lives there, and is copied where the graph says so") {
  const Plan plan = planOf(R"(
var n in [0, 9]
input x: f32[8, 8]
state here: f32[8, 8] = 1
state both: f32[8, 8] = 0
state near: f32[8] = 2
p = copy(x, device="a")
loop i < n {
  assign here = (p + i) @ here
}
assign both[0:2] = here[0:2] * 3
assign near = near + x[0]
output y = copy(p @ both, device="cpu") + copy(copy(here, device="b") * 2, device="cpu")
output whole = copy(here, device="cpu")
output other = copy(x, device="b") + both
output third = copy(near, device="a") + 1
)",
                           5);
  std::map<std::string, DeviceId> devices;
  for (const State& state : plan.states) devices[state.name] = plan.buffers[state.buffer].device;
  CHECK(devices == std::map<std::string, DeviceId>{{"here", 1}, {"both", 0}, {"near", 0}});
  CHECK(copiesOf(plan, "here") == 2);
}

TEST_CASE("states follow each other to the device on which kernels use them") {
  const Plan plan = planOf(R"(
var n in [0, 9]
input x: f32[8]
state first: f32[8] = 1
state second: f32[8] = 2
state third: f32[8] = 3
state other: f32[8] = 4
p = copy(x, device="a")
assign third = third * second
assign second = second + first
assign first = first + p
assign other = other * (x + n)
output y = other
)",
                           5);
  std::map<std::string, DeviceId> devices;
  for (const State& state : plan.states) devices[state.name] = plan.buffers[state.buffer].device;
  CHECK(devices == std::map<std::string, DeviceId>{{"first", 1}, {"second", 1}, {"third", 1}, {"other", 0}});
  for (const State& state : plan.states)
    if (state.name != "other") CHECK(copiesOf(plan, state.name) == 0);
}

TEST_CASE("what several kernels read on a device is copied there once, until it is written") {
  const Plan once = planOf(R"(
var n in [0, 9]
input x: f32[8, 8]
p = copy(x * 2, device="a") @ x
output y = copy(relu(p) @ x, device="cpu")
)",
                           5);
  CHECK(copiesOf(once, "x") == 1);
  const Plan looped = planOf(R"(
var n in [0, 9]
input x: f32[8, 8]
state s: f32[8, 8] = 0
p = copy(x, device="a")
loop i < n {
  assign s = (p + i) @ x + s
}
output z = copy(copy(x, device="b") * s, device="cpu")
output y = copy(p @ s, device="cpu")
)",
                             5);
  CHECK(copiesOf(looped, "s") >= 2);
}
