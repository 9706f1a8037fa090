// Every op a graph file can name, with shapes that no vector width divides: the graphs of ops/ as plans of
// both targets against the interpreter, within computed error bounds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "common/random_graph.h"
#include "e2e/harness.h"
#include "frontend/frontend.h"
#include "frontend/graph_op.h"
#include "interp/error_bounds.h"

using namespace svod;

namespace {

std::vector<std::string> opGraphs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_TEST_DIR "/ops"))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void collectOps(const GraphExpr& expr, std::set<std::string_view>& names) {
  if (expr.kind == ExprKind::Call)
    if (const GraphOp* op = findGraphOp(expr.text, expr.items.size())) names.insert(op->name);
  for (const OperatorAt& o : expr.operators)
    if (const GraphOp* op = findGraphOp(o.text, 2)) names.insert(op->name);
  for (const GraphExpr& item : expr.items) collectOps(item, names);
}

/// How many elements may be anything: their bound is infinite.
int64_t unbounded(const HostTensor& bound) {
  int64_t count = 0;
  for (int64_t i = 0, n = bound.dtype == DType::Void ? 0 : bound.numel(); i < n; ++i)
    count += static_cast<int64_t>(!std::isfinite(bound.at(i).asFloat()));
  return count;
}

Model modelOf(const std::string& path) {
  Result<GraphFile> file = readGraphFile(path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  return std::move(*model);
}

void checkGraph(const std::string& path, const char* target, int level) {
  Model model = modelOf(path);
  RandomOptions moderate;
  moderate.contract = true;
  ModelBindings bindings = randomBindings(model, static_cast<uint64_t>(level) + 1, moderate);
  auto expected = interpretWithBounds(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  int64_t all = 0, free = 0;
  for (size_t i = 0; i < model.ports.size(); ++i)
    all += expected->values[i].numel(), free += unbounded(expected->bounds[i]);
  CHECK(free * 4 < all);
  RunOptions options;
  options.target = target, options.optLevel = level;
  options.execute.watch = level == 0 ? Watch::Start : Watch::End;
  auto actual = runPlan(model, bindings, options);
  if (!actual) FAIL_CHECK(toText(actual.error()));
  for (size_t i = 0; actual && i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Output) continue;
    INFO(model.ports[i].name);
    CHECK(differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]) == "");
  }
}

}  // namespace

TEST_CASE("every op of graph files agrees with the interpreter on odd shapes") {
  for (const std::string& path : opGraphs())
    for (const char* target : testTargets())
      for (int level : {0, 1}) {
        INFO(path << " " << target << " -O" << level);
        checkGraph(path, target, level);
      }
}

TEST_CASE("no op of graph files is missing") {
  std::set<std::string_view> used;
  for (const std::string& path : opGraphs()) {
    Result<GraphFile> file = readGraphFile(path);
    if (!file) FAIL(toText(file.error()));
    for (const Statement& s : file->statements) collectOps(s.value, used);
  }
  for (const GraphOp& op : allGraphOps()) {
    bool callsTheHost = op.name == "custom";
    INFO(op.name);
    CHECK((callsTheHost || used.contains(op.name)));
  }
}
