// Values that are distributed over devices: what is computed from them runs on the devices, and equals one place.
#include <set>

#include "e2e/graph_text.h"
#include "e2e/seeds.h"
#include "emulated/emulated_device.h"
#include "frontend/distribute.h"
#include "interp/error_bounds.h"

using namespace svod;

namespace {

const std::vector<std::string> kNames = {"a", "b", "c"};

LoadOptions optionsFor(size_t devices) {
  LoadOptions options;
  options.devices.assign(kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(devices));
  return options;
}

/// The text with `distribute(x, devices=.., axis=..)` for `<x 0>`, and `distribute(x, devices=..)` for `<x>`; or with
/// x alone, for no devices.
std::string filled(const std::string& text, size_t devices) {
  std::string out, names;
  for (size_t i = 0; i < devices; ++i) names += (i ? ", " : "") + kNames[i];
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '<' || text[at + 1] == ' ') {
      out += text[at];
      continue;
    }
    const std::string marked = text.substr(at + 1, text.find('>', at) - at - 1);
    at += marked.size() + 1;
    const size_t space = marked.find(' ');
    const std::string axis = space == marked.npos ? "" : ", axis=" + marked.substr(space + 1);
    const std::string name = marked.substr(0, space);
    out += devices == 0 ? "(" + name + " + 0)" : "distribute(" + name + ", devices=\"" + names + "\"" + axis + ")";
  }
  return out;
}

/// Devices besides the host on which a kernel runs.
std::set<DeviceId> devicesOf(const Plan& plan) {
  std::set<DeviceId> devices;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) devices.insert(deviceOf(plan, *launch));
  devices.erase(0);
  return devices;
}

/// Copies between devices, one of which may be the host.
int64_t transfersOf(const Plan& plan) {
  return std::ranges::count_if(plan.steps, [&](const Step& step) {
    const auto* copy = std::get_if<Copy>(&step.action);
    return copy != nullptr && deviceOf(plan, copy->src).value_or(0) != deviceOf(plan, copy->dst).value_or(0);
  });
}

Plan check(const std::string& text, size_t devices, int64_t n) {
  INFO(filled(text, devices) << "n = " << n);
  const Model one = modelOf(filled(text, 0));
  Model many = modelOf(filled(text, devices), optionsFor(devices));
  const ModelBindings bindings = bindingsOf(one, n);
  auto expected = interpret(one, bindings);
  if (!expected) FAIL(toText(expected.error()));
  RunOptions options;
  options.execute.deviceSeed = static_cast<uint32_t>(n);
  options.execute.threads = 1 + static_cast<size_t>(n) % 3;
  auto actual = runPlan(many, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(one, *expected, *actual);
  CompileOptions folding = compileOptions(options);
  folding.fold.bytes = 1 << 20;
  auto compiled = compile(many, folding);
  if (!compiled) FAIL(toText(compiled.error()));
  return std::move((*compiled)->plan);
}

const std::string kHead =
    "var n in [0, 9]\ninput x: f32[n, 10]\ninput z: f32[n, 10]\ninput w: f32[10, 7]\ninput v: f32[7, 4]\n"
    "input h: f32[2, 5, 12]\ninput e: i32[4, 3]\n";

struct Row {
  const char *name, *text;
  int64_t transfers;  // with two devices; -1: not counted
};

const Row kRows[] = {
    {"elementwise, of two that are cut alike", "output y = relu(<x 0> - <z 0>) * 2\n", 6},
    {"elementwise, with one that is not distributed", "output y = <x 0> * z + 1\n", 6},
    {"elementwise, of two that are cut along different axes", "output y = <x 0> * <z 1>\n", -1},
    {"with a row, which every device gets", "output y = <x 0> + sum(z, axes=[0], keepdims=true)\n", -1},
    {"whole on every device", "output y = tanh(<x>) * <z> + <x 0>\n", -1},
    {"a sum along another axis", "output y = sum(<x 0>, axes=[1])\n", 4},
    {"a sum along the axis that is cut", "output y = sum(<x 1>, axes=[1]) * 2\n", -1},
    {"all of it reduced", "output y = reduce_max(<x 0>) + sum(<z 1>)\n", -1},
    {"a mean and a variance",
     "output y = (<x 1> - mean(<x 1>, axes=[1], keepdims=true)) / (std(<x 1>, axes=[1], keepdims=true) + 1)\n", -1},
    {"a product with rows of one operand", "output y = <x 0> @ w\n", 6},
    {"a product with columns of the other", "output y = x @ <w 1>\n", 6},
    {"a product with terms of both", "output y = tanh(<x 1> @ <w 0>)\n", -1},
    {"two layers, columns then terms", "output y = relu(x @ <w 1>) @ <v 0>\n", -1},
    {"two layers, where the second operand follows the first", "output y = relu(x @ <w 1>) @ v\n", -1},
    {"a softmax along the axis that is cut", "output y = softmax(<x 1>, axis=1)\n", -1},
    {"a softmax along the other", "output y = softmax(<x 0>, axis=1)\n", 4},
    {"normalization of layers", "output y = layer_norm(<x 0>, sum(w, axes=[1]))\n", -1},
    {"permuted and reshaped", "output y = reshape(transpose(<x 0>), shape=[2, 5, n]) * 3\n", 4},
    {"an axis cut in two, and joined again",
     "a = reshape(<h 2>, shape=[2, 5, 6, 2])\noutput y = reshape(a * a, shape=[2, 60])\n", -1},
    {"attention, by heads",
     "q = permute(reshape(<h 2>, shape=[2, 5, 6, 2]), order=[0, 2, 1, 3])\n"
     "output y = reshape(permute(attention(q, q * 2, q + 1), order=[0, 2, 1, 3]), shape=[2, 5, 12])\n",
     -1},
    {"padding, slices and mirrors",
     "p = pad(<x 0>, before=[1, 2], after=[3, 0], value=7)\noutput y = flip(p[:, 1:9], axes=[1]) + p[:, 0:8]\n"
     "output u = flip(<x 0>, axes=[0])\nt = <h 1>\noutput s = t[:, 1:4]\n",
     -1},
    {"padding with a value that parts give",
     "s = reduce_max(<x 0>)\noutput y = pad(z[:, 0:8], s, before=[0, 1], after=[0, 1]) * <x 0>\n"
     "output u = pad(<x 0>, s, before=[1, 2], after=[1, 0])\n",
     -1},
    {"what reads no memory", "p = iota(size=n)\noutput y = sin(<p 0>)\n", -1},
    {"one number, in parts", "c = full(0.5, shape=[4, n])\noutput y = exp(<c 0>)\n", -1},
    {"rows of a table by positions that are cut", "output y = embedding(w, <e 0>)\n", -1},
    {"rows of a table that is cut", "output y = embedding(<w 0> * 3, e)\n", -1},
    {"what no part can do alone",
     "y, p = sort(<x 1> * 2, axis=1)\noutput y = y\noutput c = cumsum(exp(<z 0>), axis=0)\n", -1},
    {"a convolution and a pooling of images that are cut",
     "i = reshape(<x 0>, shape=[n, 1, 2, 5])\nc = conv2d(i, reshape(w[:, 0:6], shape=[15, 1, 2, 2]), padding=1)\n"
     "output y = max_pool(c, kernel=[2, 2])\n",
     -1},
    {"elements along another axis than the one that is cut", "output y = gather_elements(<e 0>, e % 3, axis=1)\n", -1},
    {"states and loops that meet parts",
     "state s: f32[10, 7] = 1\nd = <x 0>\nloop i < 3 {\n  assign s = s + sum(d @ s, axes=[0], keepdims=true) * "
     "0.01\n}\noutput y = d @ s\n",
     -1},
    {"on one device of several", "output y = copy(exp(<x 0>), device=cpu) @ w\n", -1},
    {"integers of every kind",
     "output y = sum(<e 0>, axes=[0]) + <e 1> // 3\noutput m = prod(<e 0>)\noutput b = any(<e 0> > 2)\n", -1},
};

}  // namespace

TEST_CASE("what is computed from distributed values runs on their devices and equals one place") {
  for (const Row& row : kRows)
    for (size_t devices : {1u, 2u, 3u})
      for (int64_t n : {0, 1, 7}) {
        INFO(row.name);
        const Plan plan = check(kHead + row.text, devices, n);
        CHECK(devicesOf(plan).size() == devices);
        if (devices == 2 && row.transfers >= 0) CHECK(transfersOf(plan) == row.transfers);
      }
}

TEST_CASE("parts of a weight are on their devices from the start, and no step cuts or copies them") {
  const Plan plan = check(
      "var n in [0, 9]\ninput x: f32[n, 4]\nweight w: f32[4, 6] = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13, 14, "
      "15, 16, 17, 18], "
      "[19, 20, 21, 22, 23, 24]]\noutput y = x @ <w 1>\n",
      2, 5);
  for (const Step& step : plan.steps) {
    if (const auto* copy = std::get_if<Copy>(&step.action)) CHECK(plan.buffers[copy->src].place != Place::Constant);
    if (const auto* launch = std::get_if<Launch>(&step.action); launch != nullptr && deviceOf(plan, *launch) == 0)
      for (BufferId id : launch->buffers) CHECK(plan.buffers[id].place != Place::Constant);
  }
  CHECK(transfersOf(plan) == 4);  // x to both, and what they give back
}

TEST_CASE("devices that nobody declared, and axes that are not there, are errors") {
  const auto says = [](const std::string& line) {
    auto file = parseGraph("svod 1\ninput x: f32[4, 6]\n" + line, "test");
    REQUIRE(file);
    Result<Model> model = buildModel(*file, optionsFor(2));
    REQUIRE(!model);
    return model.error()->message;
  };
  CHECK_THAT(says("output y = distribute(x, devices=\"a, mars\")\n"), Catch::Contains("no device 'mars'"));
  CHECK_THAT(says("output y = distribute(x, devices=\"\")\n"), Catch::Contains("no device ''"));
  CHECK_THAT(says("output y = distribute(x, devices=\"a, b\", axis=2)\n"), Catch::Contains("axis"));
}

namespace {

/// Distributes some values of the model over its devices; returns how many.
int distributeSome(Model& model, uint64_t seed) {
  Draw draw(seed);
  std::vector<UOp> nodes = toposort(model.sink), made(model.graph->size()), src;
  std::vector<bool> isTarget(model.graph->size());
  for (UOp n : nodes)
    if (n.op() == Op::Store)
      for (UOp at = n.src(0); isMovement(at.op()) || at.op() == Op::After; at = at.src(0)) isTarget[at.id()] = true;
  int count = 0;
  for (UOp n : nodes) {
    src.clear();
    for (UOp s : n.src()) src.push_back(made[s.id()]);
    made[n.id()] = std::ranges::equal(src, n.src()) ? n : model.graph->make(n.op(), n.dtype(), src, n.arg());
    const bool isValue = isElementwise(n.op()) || isMovement(n.op()) || n.op() == Op::Reduce || n.op() == Op::Gather;
    if (!isValue || n.dtype() == DType::Index || n.dtype() == DType::Void || n.rank() == 0 || isTarget[n.id()] ||
        !draw.chance(15))
      continue;
    const std::span<const std::string> all = std::span(model.devices).subspan(1);
    Distribution to{{all.begin(), all.end()}, static_cast<int>(draw.below(static_cast<int64_t>(n.rank()) + 1)) - 1};
    if (draw.chance(20)) std::ranges::reverse(to.devices);
    made[n.id()] = model.graph->make(Op::Copy, n.dtype(), {made[n.id()]}, NameArg{toText(to)});
    ++count;
  }
  model.sink = made[model.sink.id()];
  return count;
}

std::unique_ptr<SeparateDevice> deviceFor(const DeviceDesc& device, uint32_t seed, uint32_t mostMicroseconds) {
  if (device.kind == DeviceKind::Cpu) return std::make_unique<SeparateDevice>(seed, mostMicroseconds);
  return std::make_unique<EmulatedDevice>(seed, mostMicroseconds);
}

/// A random graph with some values distributed: within bounds of the graph as it was, and, compiled, equal to the
/// interpreter bit for bit.
std::string checkRandom(uint64_t seed) {
  RandomOptions drawn;
  drawn.contract = true;
  drawn.loops = seed % 3 == 0;
  drawn.steps = 12;
  Model model = randomModel(seed, drawn);
  const ModelBindings bindings = randomBindings(model, seed, drawn);
  auto whole = interpretWithBounds(model, bindings);
  if (!whole) return toText(whole.error());
  for (size_t i = 0; i < 1 + seed % 3; ++i) model.devices.push_back(kNames[i]);
  distributeSome(model, seed);
  model.sink = distributed(model);
  auto parts = interpret(model, bindings);
  if (!parts) return toText(parts.error());
  RunOptions run;
  run.numerics = Numerics::Strict;
  run.execute.deviceSeed = static_cast<uint32_t>(seed);
  run.execute.threads = 1 + seed % 3;
  run.execute.makeDevice = deviceFor;
  const Target* emulated = *targetByName("emulated");
  if (seed % 4 == 3) run.devices = {{"a", emulated, *emulated->machine("", "")}};
  auto actual = runPlan(model, bindings, run);
  if (!actual) return toText(actual.error());
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    const std::string where = "port " + model.ports[i].name + ": ";
    if (std::string d = differenceBeyond((*parts)[i], whole->values[i], whole->bounds[i]); !d.empty()) return where + d;
    if (std::string d = difference((*parts)[i], (*actual)[i], 0); !d.empty()) return where + "compiled, " + d;
  }
  return "";
}

}  // namespace

TEST_CASE("random graphs with distributed values equal one place") { forSeeds(60, {}, checkRandom); }
