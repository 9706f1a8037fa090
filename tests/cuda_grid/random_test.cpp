// Random graphs as plans of target cuda on emulated grids, against the interpreter: bit for bit in strict numerics,
// within computed bounds in contract numerics, in three modes of delays.
#include <catch2/catch.hpp>

#include "common/error_bound.h"
#include "common/random_graph.h"
#include "cuda_grid/on_grid.h"
#include "e2e/seeds.h"
#include "ir/text.h"

using namespace svod;

namespace {

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

RandomOptions drawn(uint64_t seed, bool isContract) {
  RandomOptions options;
  options.loops = !isContract && seed % 3 == 0;  // bounds know nothing of loops
  options.edges = !isContract && seed % 3 == 1;
  options.contract = isContract;
  options.steps = 14;
  return options;
}

std::string check(uint64_t seed, Numerics numerics) {
  const RandomOptions options = drawn(seed, numerics == Numerics::Contract);
  Model model = randomModel(seed, options);
  const ModelBindings bindings = randomBindings(model, seed, options);
  const auto expected = interpretWithBounds(model, bindings);
  if (!expected) return toText(expected.error());
  const GridOptions grid{kDelays[seed / 2 % 3], static_cast<uint32_t>(seed)};
  const auto actual = runPlan(model, bindings, onGrid(static_cast<int>(seed % 4 != 0), numerics, grid));
  if (!actual) return toText(actual.error()) + "\n" + toUopText(model.sink);
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    const bool isSame = sameValues(expected->values[i], (*actual)[i], true);
    const std::string words = numerics == Numerics::Contract
                                  ? differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i])
                                  : (isSame ? "" : difference(expected->values[i], (*actual)[i], 0));
    if (!words.empty()) return "port " + model.ports[i].name + ": " + words + "\n" + toUopText(model.sink);
  }
  return "";
}

}  // namespace

TEST_CASE("random graphs on the emulated grid equal the interpreter bit for bit") {
  forSeeds(250, {}, [](uint64_t seed) { return check(seed, Numerics::Strict); });
}

TEST_CASE("random graphs with reassociated sums stay within the computed bounds on the emulated grid") {
  forSeeds(250, {}, [](uint64_t seed) { return check(seed, Numerics::Contract); });
}
