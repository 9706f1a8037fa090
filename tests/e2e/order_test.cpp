// Neither the order of independent steps nor the number of threads changes a byte.
#include <algorithm>
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "common/random_graph.h"
#include "common/sanitizers.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"
#include "ir/text.h"

using namespace svod;

namespace {

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

std::vector<ExecuteOptions> everyWay(uint64_t seed) {
  std::vector<ExecuteOptions> runs;
  for (size_t threads : {1, 2, 3})
    for (uint64_t order : {0, 1, 2}) {
      ExecuteOptions& run = runs.emplace_back();
      run.threads = threads;
      run.orderSeed = order * (100 * threads + seed);
      run.runs = 2;
      run.separate = false;  // reuse of memory is part of what is tested
    }
  return runs;
}

// "", or which run gave other bytes than the first.
std::string otherBytes(Model& model, const ModelBindings& bindings, uint64_t seed) {
  std::vector<ExecuteOptions> runs = everyWay(seed);
  RunOptions options;
  if (kThreadSanitizer) options.target = "c";  // it does not see code of the other one
  auto results = runPlan(model, bindings, options, runs);
  if (!results) return toText(results.error()) + "\n" + toUopText(model.sink);
  for (size_t run = 1; run < runs.size(); ++run)
    for (size_t i = 0; i < model.ports.size(); ++i)
      if (isResult(model.ports[i]) && (*results)[run][i].data != (*results)[0][i].data)
        return "port " + model.ports[i].name + ", " + std::to_string(runs[run].threads) + " threads, order " +
               std::to_string(runs[run].orderSeed) + "\n" + toUopText(model.sink);
  return "";
}

}  // namespace

TEST_CASE("order of steps and number of threads never change a byte") {
  forSeeds(20, {}, [](uint64_t seed) {
    RandomOptions drawn;
    drawn.contract = true;
    drawn.transcendentals = seed % 2 == 0;
    drawn.steps = 40;
    Model model = randomModel(5000 + seed, drawn);
    return otherBytes(model, randomBindings(model, seed, drawn), seed);
  });
}

TEST_CASE("kernels that workers share give the same bytes for any number of them") {
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
  CHECK(otherBytes(m.model, randomBindings(m.model, 1, moderate), 1) == "");
  auto compilation = compile(m.model, compileOptions({}));
  REQUIRE(compilation);
  CHECK(std::ranges::count_if((*compilation)->kernels,
                              [](const CompiledKernel& k) { return bool(k.linear.threadRange); }) >= 2);
}
