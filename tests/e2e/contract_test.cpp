// Contract mode on random graphs: results within computed bounds, and the same bytes whatever the order of independent
// steps and the number of threads. SVOD_RANDOM_FIRST and SVOD_RANDOM_COUNT choose other seeds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/error_bound.h"
#include "common/graphs.h"
#include "common/random_graph.h"
#include "e2e/harness.h"
#include "ir/text.h"

using namespace svod;

namespace {

uint64_t fromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

template <class Check>
void forSeeds(uint64_t count, Check check) {
  uint64_t first = fromEnvironment("SVOD_RANDOM_FIRST", 1), end = first + fromEnvironment("SVOD_RANDOM_COUNT", count);
  for (uint64_t seed = first; seed < end; ++seed) check(seed);
}

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

RandomOptions contractOptions(uint64_t seed) {
  RandomOptions options;
  options.contract = true;
  options.transcendentals = seed % 2 == 0;
  return options;
}

void checkBounds(uint64_t seed, const char* target) {
  INFO("seed " << seed << ", target " << target);
  RandomOptions drawn = contractOptions(seed);
  Model model = randomModel(seed, drawn);
  ModelBindings bindings = randomBindings(model, seed, drawn);
  auto expected = interpretWithBounds(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  RunOptions options;
  options.target = target;
  options.optLevel = static_cast<int>(seed % 4 != 0);
  options.threads = 1 + seed % 3;
  options.orderSeed = seed;
  auto actual = runPlan(model, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    std::string words = differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]);
    if (!words.empty()) FAIL("port " << model.ports[i].name << ": " << words << "\n" << toUopText(model.sink));
  }
  SUCCEED();
}

// Every run gives the bytes of the first; returns the number of kernels that workers share.
size_t checkSameBytes(Model& model, const ModelBindings& bindings, uint64_t seed) {
  std::vector<RunOptions> runs;
  for (size_t threads : {1, 2, 3})
    for (uint64_t order : {0, 1, 2}) {
      runs.emplace_back();
      runs.back().threads = threads;
      runs.back().orderSeed = order * (100 * threads + seed);
      runs.back().runs = 2;
    }
  auto results = runPlan(model, bindings, runs);
  if (!results) FAIL(toText(results.error()));
  REQUIRE(results->size() == runs.size());
  for (size_t run = 1; run < runs.size(); ++run)
    for (size_t i = 0; i < model.ports.size(); ++i) {
      if (!isResult(model.ports[i]) || (*results)[run][i].data == (*results)[0][i].data) continue;
      FAIL("port " << model.ports[i].name << ", " << runs[run].threads << " threads, order " << runs[run].orderSeed << "\n"
                   << toUopText(model.sink));
    }
  auto compilation = compile(model, compileOptions(runs[0]));
  REQUIRE(compilation);
  return static_cast<size_t>(std::ranges::count_if((*compilation)->kernels,
                                                   [](const CompiledKernel& k) { return bool(k.linear.threadRange); }));
}

}  // namespace

TEST_CASE("contract plans stay within the computed bounds", "[llvm]") {
  forSeeds(60, [](uint64_t seed) { checkBounds(seed, "cpu"); });
}

TEST_CASE("contract plans of the C target stay within the computed bounds", "[c]") {
  forSeeds(8, [](uint64_t seed) { checkBounds(1000 + seed, "c"); });
}

TEST_CASE("order of steps and number of threads never change a byte", "[llvm]") {
  forSeeds(20, [](uint64_t seed) {
    INFO("seed " << seed);
    RandomOptions drawn = contractOptions(seed);
    drawn.steps = 40;
    Model model = randomModel(5000 + seed, drawn);
    checkSameBytes(model, randomBindings(model, seed, drawn), seed);
  });
}

TEST_CASE("kernels that workers share give the same bytes for any number of them", "[llvm]") {
  GraphMaker m;
  UOp a = m.input("a", {129, 131}), b = m.input("b", {131, 130});
  UOp product = m.matmul(a, b, 129, 130, 131);
  m.output("product", product);
  m.output("softmax", m.softmax(product, 129, 130));
  m.output("sines", m.g.alu(Op::Sin, {m.input("x", {900, 511})}));
  m.output("sums", m.reduce(Op::Add, m.input("y", {1500, 801}), {1}));
  m.output("total", m.reduce(Op::Add, m.input("z", {400'001}), {0}));
  RandomOptions moderate;
  moderate.contract = true;
  CHECK(checkSameBytes(m.model, randomBindings(m.model, 1, moderate), 1) >= 2);
}
