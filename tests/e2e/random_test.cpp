// Random graphs as plans between guard pages, against the interpreter: bit for bit in strict numerics, within
// computed bounds in contract numerics. Seeds: e2e/seeds.h.
#include <catch2/catch.hpp>

#include "common/random_graph.h"
#include "e2e/harness.h"
#include "e2e/reduce_graph.h"
#include "e2e/seeds.h"
#include "interp/error_bounds.h"
#include "ir/text.h"
#include "schedule/graph_passes.h"

using namespace svod;

namespace {

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

/// How to compile and run, so that every combination turns up among the seeds.
RunOptions draw(uint64_t seed, Numerics numerics, const char* target) {
  RunOptions options;
  options.numerics = numerics;
  options.target = target;
  options.optLevel = static_cast<int>(seed % 3 != 0);
  options.memory = static_cast<MemoryMode>(seed % 5 == 0 ? 1 + seed % 2 : 0);
  const Pass& pass = graphPasses()[seed / 6 % graphPasses().size()];
  if (seed % 6 == 1 && pass.optional) options.disabledPasses = {std::string(pass.name)};
  options.execute.threads = seed % 4 == 0 ? 3 : 1;
  options.execute.orderSeed = seed % 2 == 0 ? seed : 0;
  options.execute.watch = seed % 7 < 2 ? Watch::Start : Watch::End;
  options.execute.separate = seed % 11 < 7;
  return options;
}

// "", or what is wrong.
template <class Compare>
std::string compareResults(Model& model, const ModelBindings& bindings, const RunOptions& options, Compare compare) {
  auto actual = runPlan(model, bindings, options);
  if (!actual) return toText(actual.error()) + "\n" + toUopText(model.sink);
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    std::string words = compare(i, (*actual)[i]);
    if (!words.empty()) return "port " + model.ports[i].name + ": " + words + "\n" + toUopText(model.sink);
  }
  return "";
}

std::string strictDifference(Model& model, const ModelBindings& bindings, const RunOptions& options) {
  auto expected = interpret(model, bindings);
  if (!expected) return toText(expected.error());
  return compareResults(model, bindings, options, [&](size_t i, const HostTensor& actual) {
    return sameValues((*expected)[i], actual, true) ? "" : "differs: " + difference((*expected)[i], actual, 0);
  });
}

std::string boundsDifference(Model& model, const ModelBindings& bindings, const RunOptions& options) {
  auto expected = interpretWithBounds(model, bindings);
  if (!expected) return toText(expected.error());
  return compareResults(model, bindings, options, [&](size_t i, const HostTensor& actual) {
    return differenceBeyond(actual, expected->values[i], expected->bounds[i]);
  });
}

/// Compiles, runs and compares the graph of a seed. What is wrong is said of a graph as small as possible.
template <class Difference>
std::string check(uint64_t seed, const RandomOptions& drawn, const RunOptions& options, Difference findDifference) {
  Model model = randomModel(seed, drawn);
  ModelBindings bindings = randomBindings(model, seed, drawn);
  ModelCheck differs = [&](Model& m, const ModelBindings& b) { return findDifference(m, b, options); };
  return reduceGraph(model, bindings, differs);
}

std::string checkStrict(uint64_t seed, const char* target) {
  return check(seed, {}, draw(seed, Numerics::Strict, target), strictDifference);
}

std::string checkLoops(uint64_t seed, const char* target) {
  RandomOptions drawn;
  drawn.loops = true;
  drawn.steps = 12;
  return check(seed, drawn, draw(seed, Numerics::Strict, target), strictDifference);
}

std::string checkContract(uint64_t seed, const char* target) {
  RandomOptions drawn;
  drawn.contract = true;
  drawn.transcendentals = seed % 2 == 0;
  return check(seed, drawn, draw(seed, Numerics::Contract, target), boundsDifference);
}

RandomOptions withEdges(bool loops) {
  RandomOptions drawn;
  drawn.edges = true;
  drawn.loops = loops;
  drawn.steps = loops ? 10 : 16;
  return drawn;
}

std::string checkEdges(uint64_t seed, const char* target) {
  return check(seed, withEdges(seed % 4 == 0), draw(seed, Numerics::Strict, target), strictDifference);
}

std::string checkEdgesContract(uint64_t seed, const char* target) {
  RandomOptions drawn = withEdges(false);
  drawn.contract = true;
  drawn.transcendentals = seed % 2 == 0;
  return check(seed, drawn, draw(seed, Numerics::Contract, target), boundsDifference);
}

}  // namespace

// Seeds beyond the first ones found defects once.
TEST_CASE("strict plans equal the interpreter bit for bit", "[cpu]") {
  forSeeds(1200, {3116, 3631, 3946}, [](uint64_t seed) { return checkStrict(seed, "cpu"); });
}

TEST_CASE("contract plans stay within the computed bounds", "[cpu]") {
  forSeeds(900, {1358, 1487, 3275}, [](uint64_t seed) { return checkContract(seed, "cpu"); });
}

TEST_CASE("strict plans with loops equal the interpreter bit for bit", "[cpu]") {
  forSeeds(600, {}, [](uint64_t seed) { return checkLoops(seed, "cpu"); });
}

TEST_CASE("strict plans of the C target with loops equal the interpreter bit for bit", "[c]") {
  forSeeds(60, {}, [](uint64_t seed) { return checkLoops(seed, "c"); });
}

TEST_CASE("strict plans of the C target equal the interpreter bit for bit", "[c]") {
  forSeeds(120, {3116, 3946}, [](uint64_t seed) { return checkStrict(seed, "c"); });
}

TEST_CASE("contract plans of the C target stay within the computed bounds", "[c]") {
  forSeeds(80, {1358, 1487}, [](uint64_t seed) { return checkContract(seed, "c"); });
}

TEST_CASE("strict plans equal the interpreter where sizes and parts are at their edges", "[cpu][edges]") {
  forSeeds(400, {1926, 2063, 10310}, [](uint64_t seed) { return checkEdges(seed, "cpu"); });
}

TEST_CASE("contract plans stay within the bounds where sizes and parts are at their edges", "[cpu][edges]") {
  forSeeds(300, {}, [](uint64_t seed) { return checkEdgesContract(seed, "cpu"); });
}

TEST_CASE("strict plans of the C target equal the interpreter where sizes and parts are at their edges", "[c][edges]") {
  forSeeds(40, {}, [](uint64_t seed) { return checkEdges(seed, "c"); });
}
