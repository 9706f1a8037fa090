// Plans with kernels for some sizes, exact ones or all between two: random graphs with each case forced, by the sizes
// of the run that it is for, equal the interpreter. Seeds: e2e/seeds.h.
#include <catch2/catch.hpp>

#include "common/random_graph.h"
#include "e2e/graph_text.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"

using namespace svod;

namespace {

int64_t sizeOf(const ModelBindings& bindings, const std::string& name) { return bindings.variables.at(name); }

/// For each variable its size of the run, sizes around it, another one, or some of these, by the seed.
std::vector<Specialization> draw(const Model& model, const ModelBindings& bindings, uint64_t seed) {
  std::vector<Specialization> all;
  for (UOp variable : model.variables) {
    const auto& known = variable.argAs<VarArg>();
    const std::string name(known.name);
    const int64_t size = sizeOf(bindings, name), other = size == known.min ? known.max : known.min;
    all.push_back({name, {}});
    if (seed % 7 == 0) all.back().sizes.push_back({(known.min + size) / 2, (size + known.max) / 2});
    if (seed % 3 != 1) all.back().sizes.push_back({size, size});
    if (seed % 3 != 0 && other != size) all.back().sizes.push_back({other, other});
  }
  return all;
}

std::string check(uint64_t seed, const char* target) {
  RandomOptions drawn;
  drawn.edges = seed % 2 == 0;
  drawn.loops = seed % 5 == 0;
  Model model = randomModel(seed, drawn);
  const ModelBindings bindings = randomBindings(model, seed, drawn);
  RunOptions options;
  options.numerics = Numerics::Strict;
  options.target = target;
  options.optLevel = static_cast<int>(seed % 4 != 0);
  options.execute.threads = seed % 4 == 0 ? 3 : 1;
  options.execute.watch = seed % 7 < 2 ? Watch::Start : Watch::End;
  options.specializations = draw(model, bindings, seed);
  auto expected = interpret(model, bindings);
  if (!expected) return toText(expected.error());
  auto actual = runPlan(model, bindings, options);
  if (!actual) return toText(actual.error());
  for (size_t i = 0; i < model.ports.size(); ++i) {
    const PortKind kind = model.ports[i].kind;
    if (kind != PortKind::Output && kind != PortKind::State) continue;
    if (!sameValues((*expected)[i], (*actual)[i], true))
      return "port " + model.ports[i].name + ": " + difference((*expected)[i], (*actual)[i], 0);
  }
  return "";
}

}  // namespace

TEST_CASE("plans with kernels for exact sizes equal the interpreter", "[cpu]") {
  forSeeds(300, {}, [](uint64_t seed) { return check(seed, "cpu"); });
}

TEST_CASE("plans of the C target with kernels for exact sizes equal the interpreter", "[c]") {
  forSeeds(40, {}, [](uint64_t seed) { return check(seed, "c"); });
}
