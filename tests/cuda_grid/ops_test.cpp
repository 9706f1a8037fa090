// Every op of graph files, printed for CUDA and run on the emulated grid, against the interpreter: in three modes of
// delays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "common/random_graph.h"
#include "cuda_grid/on_grid.h"
#include "frontend/frontend.h"
#include "interp/error_bounds.h"

using namespace svod;

namespace {

std::vector<std::string> opGraphs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_TEST_DIR "/../e2e/ops"))
    paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

void checkGraph(const std::string& path, int level) {
  Result<GraphFile> file = readGraphFile(path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  RandomOptions moderate;
  moderate.contract = true;
  const ModelBindings bindings = randomBindings(*model, static_cast<uint64_t>(level) + 1, moderate);
  const auto expected = interpretWithBounds(*model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  const auto actual = runPlan(*model, bindings, onGrid(level, Numerics::Contract, 7));
  if (!actual) FAIL_CHECK(toText(actual.error()));
  for (size_t i = 0; actual && i < model->ports.size(); ++i) {
    if (model->ports[i].kind != PortKind::Output) continue;
    INFO(model->ports[i].name);
    CHECK(differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]) == "");
  }
}

}  // namespace

TEST_CASE("every op of graph files agrees with the interpreter on the emulated grid") {
  const std::vector<std::string> paths = opGraphs();
  CHECK(paths.size() > 7);
  for (const std::string& path : paths)
    for (int level : {0, 1}) {
      INFO(path << " -O" << level);
      checkGraph(path, level);
    }
}
