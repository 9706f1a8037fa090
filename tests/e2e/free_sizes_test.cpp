// Random graph files with free sizes as plans between guard pages: at the least, the likely and the greatest sizes, at
// primes, beside tiles and where one kernel takes over from another they compute what the interpreter does.
// Seeds: e2e/seeds.h; SVOD_SHOW_TIMES=1 prints what each graph took.
#include <catch2/catch.hpp>
#include <cmath>
#include <ctime>

#include "common/free_graph.h"
#include "e2e/free_sizes.h"
#include "e2e/harness.h"
#include "e2e/reduce_graph.h"
#include "e2e/seeds.h"
#include "frontend/frontend.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

using namespace svod;

namespace {

struct Counts {
  int64_t graphs = 0, runs = 0, cases = 0, elements = 0, unbounded = 0;
  double slowest = 0;
};

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

bool hasTranscendentals(const Model& model) {
  return std::ranges::any_of(toposort(model.sink), [](UOp n) { return has(n.op(), OpTrait::Transcend); });
}

// -- what is wrong

/// What the interpreter computes, with bounds where a plan may differ from it.
Result<BoundedResult> expectedOf(const Model& model, const ModelBindings& bindings, Numerics numerics) {
  if (numerics != Numerics::Strict || hasTranscendentals(model))
    return interpretWithBounds(model, bindings, numerics == Numerics::Fast ? numerics : Numerics::Contract);
  SVOD_TRY(std::vector<HostTensor> values, interpret(model, bindings));
  std::vector<HostTensor> none(values.size());
  return BoundedResult{std::move(values), std::move(none)};
}

std::string wrongIn(const Model& model, const BoundedResult& expected, const std::vector<HostTensor>& actual) {
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    const HostTensor &want = expected.values[i], &have = actual[i], &bound = expected.bounds[i];
    const bool isExact = bound.dtype == DType::Void;
    if (isExact && sameValues(want, have, true)) continue;
    const std::string words = isExact ? difference(want, have, 0) : differenceBeyond(have, want, bound);
    if (isExact || !words.empty()) return "port " + model.ports[i].name + ": " + words;
  }
  return "";
}

int64_t unbounded(const HostTensor& bound) {
  int64_t count = 0;
  for (int64_t i = 0, n = bound.dtype == DType::Void ? 0 : bound.numel(); i < n; ++i)
    count += static_cast<int64_t>(!std::isfinite(bound.at(i).asFloat()));
  return count;
}

std::string describe(const RunOptions& options, const VariableValues& point) {
  std::string text = std::string(toText(options.numerics)) + " -O" + std::to_string(options.optLevel);
  for (const Specialization& one : options.specializations)
    for (const Interval& sizes : one.sizes)
      text += " --specialize " + one.variable + "=" + std::to_string(sizes.min) + ":" + std::to_string(sizes.max);
  for (const auto& [name, size] : point) text += " " + name + "=" + std::to_string(size);
  return text;
}

Result<std::unique_ptr<Compilation>> compiled(Model& model, const RunOptions& options, bool isVerified) {
  CompileOptions c = compileOptions(options);
  c.passes.verifyEach = isVerified;
  return compile(model, c);
}

/// What is wrong at one point, of a graph as small as possible.
std::string reduced(Model& model, ModelBindings bindings, const RunOptions& options) {
  ModelCheck differs = [&](Model& m, const ModelBindings& b) -> std::string {
    auto expected = expectedOf(m, b, options.numerics);
    if (!expected) return "";
    auto compilation = compiled(m, options, false);
    if (!compilation) return toText(compilation.error());
    for (const PlanImage& image : forced(planImage(**compilation))) {
      auto actual = executePlan(image, m, b, options.execute);
      std::string words = actual ? wrongIn(m, *expected, *actual) : toText(actual.error());
      if (!words.empty()) return words + "\n" + toUopText(m.sink);
    }
    return "";
  };
  return reduceGraph(model, bindings, differs);
}

// -- graphs

RunOptions draw(const Model& model, uint64_t seed, const char* target) {
  constexpr Numerics kNumerics[] = {Numerics::Strict, Numerics::Contract, Numerics::Contract, Numerics::Fast};
  RunOptions options;
  options.numerics = kNumerics[seed % 4];
  options.target = target;
  options.quickC = true;
  options.optLevel = static_cast<int>(seed % 5 != 0);
  options.memory = static_cast<MemoryMode>(seed % 13 == 0 ? 1 + seed % 2 : 0);
  options.execute.threads = seed % 6 == 0 ? 3 : 1;
  options.execute.orderSeed = seed % 2 == 0 ? seed : 0;
  options.execute.watch = seed % 7 < 3 ? Watch::Start : Watch::End;
  options.execute.separate = seed % 11 < 6;
  if (seed % 3 != 0) return options;
  for (UOp v : model.variables) {
    const auto& known = v.argAs<VarArg>();
    Specialization one{std::string(known.name), {}};
    for (int64_t size : {int64_t{1}, int64_t{8}, known.max})
      if (size >= known.min && size <= known.max && (seed / 3 + static_cast<uint64_t>(size)) % 3 != 0)
        one.sizes.push_back({size, size});
    const int64_t middle = (known.min + known.max) / 2;
    if (seed % 2 == 0 && known.max > known.min) one.sizes.push_back({known.min, middle});
    if (seed % 4 == 1 && known.max > known.min) one.sizes.push_back({middle, known.max});
    if (!one.sizes.empty() && options.specializations.size() < 2) options.specializations.push_back(one);
  }
  return options;
}

Result<Model> modelOf(const std::string& text) {
  SVOD_TRY(GraphFile file, parseGraph("svod 1\n" + text, "random.svod"));
  return buildModel(file);
}

struct Checked {
  std::vector<ModelBindings> bindings;
  std::vector<BoundedResult> expected;
};

Result<Checked> interpreted(const Model& model, const Plan& plan, uint64_t seed, Numerics numerics, Counts& counts) {
  const bool isSpecial = numerics == Numerics::Strict && seed % 3 == 0 && !hasTranscendentals(model);
  Checked all;
  for (const VariableValues& point : pointsOf(model, plan, seed)) {
    all.bindings.push_back(bindingsAt(model, point, seed + 100 * all.bindings.size(), isSpecial));
    SVOD_TRY(BoundedResult expected, expectedOf(model, all.bindings.back(), numerics));
    for (size_t i = 0; i < model.ports.size(); ++i)
      if (isResult(model.ports[i]))
        counts.elements += expected.values[i].numel(), counts.unbounded += unbounded(expected.bounds[i]);
    all.expected.push_back(std::move(expected));
  }
  return all;
}

/// Of processor time.
double secondsSince(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

std::string check(uint64_t seed, const char* target, Counts& counts) {
  const FreeGraph graph = freeGraph(seed);
  const bool isShown = numberFromEnvironment("SVOD_SHOW_TIMES", 0) != 0;
  if (isShown) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  Result<Model> built = modelOf(graph.text);
  if (!built) return toText(built.error()) + "\n" + graph.text;
  Model& model = *built;
  fillWeights(model, seed);
  const RunOptions options = draw(model, seed, target);
  const std::clock_t start = std::clock();
  auto compilation = compiled(model, options, seed % 8 == 0);
  const double seconds = secondsSince(start);
  if (!compilation) return toText(compilation.error()) + "\n" + graph.text + describe(options, {});
  counts.slowest = std::max(counts.slowest, seconds);
  const PlanImage image = planImage(**compilation);
  auto points = interpreted(model, image.plan, seed, options.numerics, counts);
  if (!points) return toText(points.error()) + "\n" + graph.text;
  const std::vector<PlanImage> images = forced(image);
  ++counts.graphs, counts.cases += static_cast<int64_t>(images.size()) - 1;
  for (const PlanImage& one : images) {
    auto actual = executePlan(one, model, points->bindings, options.execute);
    for (size_t i = 0; i < points->bindings.size(); ++i) {
      const std::string words = actual ? wrongIn(model, points->expected[i], (*actual)[i]) : toText(actual.error());
      if (!words.empty())
        return words + "\n" + graph.text + describe(options, points->bindings[i].variables) + "\n" +
               reduced(model, points->bindings[i], options);
    }
    counts.runs += static_cast<int64_t>(points->bindings.size());
  }
  if (isShown) {
    std::fprintf(stderr, "  compiled in %.2f s, all in %.2f s, %zu plans:", seconds, secondsSince(start),
                 images.size());
    for (const std::string& piece : graph.pieces) std::fprintf(stderr, " %s,", piece.c_str());
    std::fprintf(stderr, "\n");
  }
  return "";
}

void checkSeeds(uint64_t count, const char* target) {
  Counts counts;
  forSeeds(count, {}, [&](uint64_t seed) { return check(seed, target, counts); });
  if (numberFromEnvironment("SVOD_SHOW_TIMES", 0) != 0)
    WARN(counts.graphs << " graphs, " << counts.runs << " runs, " << counts.cases << " plans with other kernels, "
                       << counts.unbounded << " of " << counts.elements << " elements may be anything, slowest compile "
                       << counts.slowest << " s");
  CHECK(counts.unbounded * 4 <= counts.elements);
}

}  // namespace

TEST_CASE("plans of free sizes equal the interpreter at all kinds of sizes", "[cpu]") { checkSeeds(40, "cpu"); }

TEST_CASE("plans of free sizes of the C target equal the interpreter at all kinds of sizes", "[c]") {
  checkSeeds(10, "c");
}
