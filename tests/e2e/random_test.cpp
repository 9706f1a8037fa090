// Random graphs: the compiled plan equals the interpreter. SVOD_RANDOM_FIRST and SVOD_RANDOM_COUNT choose other seeds.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/error_bound.h"
#include "common/random_graph.h"
#include "e2e/harness.h"
#include "ir/text.h"

using namespace svod;

namespace {

uint64_t fromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

struct Range {
  uint64_t first, end;
};
Range seeds(uint64_t count) {
  uint64_t first = fromEnvironment("SVOD_RANDOM_FIRST", 1);
  return {first, first + fromEnvironment("SVOD_RANDOM_COUNT", count)};
}

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

RunOptions draw(uint64_t seed, Numerics numerics, const char* target) {
  RunOptions options;
  options.numerics = numerics;
  options.target = target;
  options.optLevel = static_cast<int>(seed % 3 != 0);
  options.memory = static_cast<MemoryMode>(seed % 5 == 0 ? 1 + seed % 2 : 0);
  options.threads = seed % 4 == 0 ? 3 : 1;
  options.orderSeed = seed % 2 == 0 ? seed : 0;
  return options;
}

void checkStrict(uint64_t seed, const char* target) {
  INFO("seed " << seed << ", target " << target);
  Model model = randomModel(seed);
  ModelBindings bindings = randomBindings(model, seed);
  auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  auto actual = runPlan(model, bindings, draw(seed, Numerics::Strict, target));
  if (!actual) FAIL(toText(actual.error()));
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i]) || sameValues((*expected)[i], (*actual)[i], true)) continue;
    FAIL("port " << model.ports[i].name << ": " << difference((*expected)[i], (*actual)[i], 0) << "\n"
                 << toUopText(model.sink));
  }
  SUCCEED();
}

}  // namespace

TEST_CASE("strict plans equal the interpreter bit for bit", "[llvm]") {
  Range range = seeds(60);
  for (uint64_t seed = range.first; seed < range.end; ++seed) checkStrict(seed, "cpu");
}

TEST_CASE("the C target equals the interpreter bit for bit", "[c]") {
  Range range = seeds(12);
  for (uint64_t seed = range.first; seed < range.end; ++seed) checkStrict(seed, "c");
}
