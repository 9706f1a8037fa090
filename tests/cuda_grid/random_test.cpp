// Random graphs as plans of target cuda on emulated grids, against the interpreter: bit for bit in strict numerics,
// within computed bounds in contract numerics, in three modes of delays.
#include <catch2/catch.hpp>
#include <cmath>

#include "common/random_graph.h"
#include "cuda_grid/on_grid.h"
#include "e2e/reduce_graph.h"
#include "e2e/seeds.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

using namespace svod;

namespace {

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

/// Every third graph has loops, every third sizes at their edges; most have products, rows and the like.
RandomOptions drawn(uint64_t seed, Numerics numerics) {
  RandomOptions options;
  options.loops = seed % 3 == 0;
  options.edges = seed % 3 == 1;
  options.composites = seed % 5 != 0;
  options.contract = numerics == Numerics::Contract;
  options.transcendentals = options.contract && seed % 2 == 0;
  options.steps = 14;
  return options;
}

/// Elements of floats whose results were compared, and those of them that may be anything.
struct Compared {
  int64_t all = 0, unbounded = 0;
  void add(const HostTensor& bound) {
    for (int64_t i = 0; bound.dtype != DType::Void && i < bound.numel(); ++i)
      ++all, unbounded += !std::isfinite(bound.at(i).asFloat());
  }
};

std::string differenceOf(Model& model, const ModelBindings& bindings, const RunOptions& options, Compared& compared) {
  const auto expected = interpretWithBounds(model, bindings);
  if (!expected) return toText(expected.error());
  for (const HostTensor& bound : expected->bounds) compared.add(bound);
  const auto actual = runPlan(model, bindings, options);
  if (!actual) return toText(actual.error()) + "\n" + toUopText(model.sink);
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    const bool isSame = sameValues(expected->values[i], (*actual)[i], true);
    const std::string words = options.numerics == Numerics::Contract
                                  ? differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i])
                                  : (isSame ? "" : difference(expected->values[i], (*actual)[i], 0));
    if (!words.empty()) return "port " + model.ports[i].name + ": " + words + "\n" + toUopText(model.sink);
  }
  return "";
}

std::string check(uint64_t seed, Numerics numerics, Compared& compared) {
  const RandomOptions options = drawn(seed, numerics);
  Model model = randomModel(seed, options);
  ModelBindings bindings = randomBindings(model, seed, options);
  const RunOptions run = onGrid(static_cast<int>(seed % 4 != 0), numerics, static_cast<uint32_t>(seed));
  const ModelCheck differs = [&](Model& m, const ModelBindings& b) { return differenceOf(m, b, run, compared); };
  return reduceGraph(model, bindings, differs);
}

}  // namespace

TEST_CASE("random graphs on the emulated grid equal the interpreter bit for bit") {
  Compared compared;
  forSeeds(250, {303, 869, 1167}, [&](uint64_t seed) { return check(seed, Numerics::Strict, compared); });
}

TEST_CASE("random graphs with reassociated sums stay within the computed bounds on the emulated grid") {
  Compared compared;
  forSeeds(250, {}, [&](uint64_t seed) { return check(seed, Numerics::Contract, compared); });
  INFO(compared.unbounded << " of " << compared.all << " elements may be anything");
  CHECK((compared.all < 20000 || compared.unbounded < compared.all / 8));
}
