// Copies of symbolic size, and results that are written over an operand.
#include <catch2/catch.hpp>
#include <map>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

Plan planOf(Model& model, const RunOptions& options = {}) {
  auto compilation = compile(model, compileOptions(options));
  if (!compilation) FAIL(toText(compilation.error()));
  return (*compilation)->plan;
}

/// Compares with the interpreter, in one arena, so that places are shared.
void checkRuns(const std::string& text, int64_t n) {
  Model model = modelOf(text);
  ModelBindings bindings = bindingsOf(model, n);
  auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  std::vector<ExecuteOptions> runs(3);
  for (size_t i = 0; i < runs.size(); ++i) runs[i].threads = i + 1, runs[i].orderSeed = i, runs[i].separate = false;
  for (const char* target : testTargets())
    for (MemoryMode memory : {MemoryMode::Arena, MemoryMode::Remap}) {
      RunOptions options;
      options.target = target, options.memory = memory;
      auto actual = runPlan(model, bindings, options, runs);
      if (!actual) FAIL(toText(actual.error()));
      for (const std::vector<HostTensor>& ports : *actual) checkEqual(model, *expected, ports);
    }
}

/// The plan has so many results in place, and computes what the interpreter does.
size_t inPlace(const std::string& text, int64_t n = 0) {
  INFO(text);
  checkRuns(text, n);
  Model model = modelOf(text);
  return planOf(model).memory.inPlace.size();
}

std::vector<std::string> copiesOf(Model& model) {
  const Plan plan = planOf(model);
  std::vector<std::string> texts;
  for (const Step& step : plan.steps)
    if (const auto* copy = std::get_if<Copy>(&step.action)) texts.push_back(toText(copy->bytes, variableNames(plan)));
  return texts;
}

const char* const kChain = R"(input x: f32[48, 50]
a = contiguous(x * 2)
b = contiguous(a + 1)
c = contiguous(b * b + x)
output y = sum(transpose(c), axes=0) + sum(c)
)";

}  // namespace

TEST_CASE("copies move what the variables say") {
  const std::string whole = R"(var n in [1, 40]
input x: f32[n, 3]
state s: f32[n, 3]
assign s = x
output y = reshape(x, shape=[3 * n])
)";
  Model model = modelOf(whole);
  CHECK(copiesOf(model) == std::vector<std::string>{"n*3*4", "n*3*4"});
  for (int64_t n : {1, 17, 40}) checkRuns(whole, n);

  // The state has gaps between its rows, so a kernel copies.
  const std::string gaps = R"(var n in [1, 40]
input x: i16[3, n]
state s: i16[3, n]
assign s = x
output y = x
output z = s
)";
  model = modelOf(gaps);
  CHECK(copiesOf(model) == std::vector<std::string>{"n*3*2"});
  for (int64_t n : {1, 17, 40}) checkRuns(gaps, n);

  const std::string counted = R"(var n in [0, 6]
temp t: f32[6] = 0
input x: f32[6]
loop i < n {
  assign slice(t, starts=[i], ends=[6]) = slice(x, starts=[0], ends=[6 - i])
}
output y = t
)";
  for (int64_t n : {0, 1, 6}) checkRuns(counted, n);
}

TEST_CASE("a chain of elementwise kernels has one place") {
  CHECK(inPlace(kChain) == 2);
  Model model = modelOf(kChain);
  const Plan plan = planOf(model);
  CHECK(arenaBytes(plan) < 2 * 48 * 50 * 4);
  for (const InPlace& pair : plan.memory.inPlace)
    CHECK(plan.buffers[pair.source].offset == plan.buffers[pair.result].offset);
  RunOptions off;
  off.memory = MemoryMode::Off;
  CHECK(planOf(model, off).memory.inPlace.empty());
}

TEST_CASE("symbolic shapes and other dtypes of one size") {
  CHECK(inPlace(R"(var n in [1, 40]
input x: f32[n, n]
a = contiguous(x * 2)
b = contiguous(cast(a, dtype=i32) + 1)
c = contiguous(bitcast(b, dtype=f32))
output y = sum(cast(b, dtype=f32), axes=0)
output z = transpose(c)
)",
                33) == 1);
}

TEST_CASE("what is read elsewhere, or later, keeps its place") {
  // Read at another element, in a reduction, by a later kernel, and narrower than the result.
  CHECK(inPlace("input x: f32[32, 32]\na = contiguous(x * 2)\nb = contiguous(a + transpose(a))\n"
                "output y = flip(b, axes=[0])\n") == 0);
  CHECK(inPlace("input x: f32[32, 32]\na = contiguous(x * 2)\nb = contiguous(matmul(a, x))\n"
                "output y = flip(b, axes=[0])\n") == 0);
  CHECK(inPlace("input x: f32[1024]\na = contiguous(x * 2)\nb = contiguous(a + 1)\n"
                "output y = flip(a, axes=[0]) * flip(b, axes=[0])\n") == 0);
  CHECK(inPlace("input x: f32[1024]\na = contiguous(x * 2)\nb = contiguous(cast(a, dtype=f64))\n"
                "output y = flip(b, axes=[0])\n") == 0);
}

TEST_CASE("in a loop every iteration has its own result") {
  inPlace(R"(input x: f32[64]
temp acc = x
loop i < 4 {
  a = contiguous(acc * 0.5)
  b = contiguous(a + 1)
  assign acc = flip(b, axes=[0])
}
output acc
)");
}

TEST_CASE("a part that a variable carries beyond its tensor reads zeros and stores nothing") {
  Model model = modelOf(R"(var k in [0, 9]
input x: f32[10, 3]
state s: f32[10, 3]
assign slice(s, starts=[k], ends=[k + 4]) = slice(x, starts=[k], ends=[k + 4]) + 1
output read = slice(x, starts=[k], ends=[k + 4])
output there = slice(pad(x, before=[0, 0], after=[4, 0]), starts=[k], ends=[k + 4])
output stored = s
rows = reshape(arange(stop=10), shape=[10, 1])
output expected = where(ge(rows, k), where(lt(rows, k + 4), x + 1, 0), 0)
)");
  for (const char* target : testTargets())
    for (int64_t k : {0, 6, 7, 9}) {
      INFO(target << ", k = " << k);
      RunOptions options;
      options.target = target;
      auto ports = runPlan(model, bindingsOf(model, k), options);
      if (!ports) FAIL(toText(ports.error()));
      std::map<std::string, HostTensor> values;
      for (size_t i = 0; i < model.ports.size(); ++i) values[model.ports[i].name] = (*ports)[i];
      CHECK(difference(values["there"], values["read"], 0) == "");
      CHECK(difference(values["expected"], values["stored"], 0) == "");
    }
}
