#include "e2e/device_checks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "common/random_graph.h"
#include "data/mapped_file.h"
#include "e2e/reduce_graph.h"
#include "frontend/frontend.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

namespace svod {

namespace {

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

RandomOptions drawn(uint64_t seed, Numerics numerics, bool hasF64) {
  RandomOptions options;
  for (DType dtype : allDTypes())
    if (!hasF64 && dtype != DType::F64 && dtype != DType::Void && dtype != DType::Index)
      options.dtypes.push_back(dtype);
  options.loops = seed % 3 == 0;
  options.edges = seed % 3 == 1;
  options.composites = seed % 5 != 0;
  options.contract = numerics == Numerics::Contract;
  options.transcendentals = options.contract && seed % 2 == 0;
  options.steps = 14;
  return options;
}

void add(const HostTensor& bound, ComparedElements& to) {
  for (int64_t i = 0; bound.dtype != DType::Void && i < bound.numel(); ++i)
    ++to.all, to.unbounded += !std::isfinite(bound.at(i).asFloat());
}

std::string differenceOf(Model& model, const ModelBindings& bindings, const RunOptions& options,
                         ComparedElements& compared) {
  const auto expected = interpretWithBounds(model, bindings);
  if (!expected) return toText(expected.error());
  for (const HostTensor& bound : expected->bounds) add(bound, compared);
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

}  // namespace

namespace {

void withoutF64(std::string& text) {
  for (size_t at = text.find("f64"); at != text.npos; at = text.find("f64", at)) text.replace(at, 3, "f32");
}

}  // namespace

std::vector<std::string> opGraphs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/e2e/ops")) paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

void checkOpGraph(const std::string& path, const RunOptions& options, bool hasF64) {
  Result<std::string> text = readWholeFile(path);
  if (!text) FAIL(toText(text.error()));
  if (!hasF64) withoutF64(*text);
  Result<GraphFile> file = parseGraph(*text, path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  RandomOptions moderate;
  moderate.contract = true;
  const ModelBindings bindings = randomBindings(*model, static_cast<uint64_t>(options.optLevel) + 1, moderate);
  const auto expected = interpretWithBounds(*model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  const auto actual = runPlan(*model, bindings, options);
  if (!actual) FAIL_CHECK(toText(actual.error()));
  for (size_t i = 0; actual && i < model->ports.size(); ++i) {
    if (model->ports[i].kind != PortKind::Output) continue;
    INFO(model->ports[i].name);
    CHECK(differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]) == "");
  }
}

std::string randomGraphDifference(uint64_t seed, const RunOptions& options, ComparedElements& compared, bool hasF64) {
  const RandomOptions random = drawn(seed, options.numerics, hasF64);
  Model model = randomModel(seed, random);
  ModelBindings bindings = randomBindings(model, seed, random);
  const ModelCheck differs = [&](Model& m, const ModelBindings& b) { return differenceOf(m, b, options, compared); };
  return reduceGraph(model, bindings, differs);
}

}  // namespace svod
