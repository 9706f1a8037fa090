// The graphs of tests/frontend/values, whose results numpy computed, as plans: both targets, with and without
// opts.
#include <catch2/catch.hpp>

#include "common/value_graph.h"
#include "e2e/harness.h"

using namespace svod;

TEST_CASE("graph files give numpy's values as plans") {
  for (const std::string& path : valueGraphs())
    for (const char* target : testTargets())
      for (int level : {0, 1}) {
        INFO(path << " " << target << " -O" << level);
        ValueGraph graph = loadValueGraph(path);
        RunOptions options;
        options.target = target, options.optLevel = level;
        Result<std::vector<HostTensor>> results = runPlan(graph.model, graph.bindings, options);
        if (!results) FAIL(toText(results.error()));
        checkValues(graph, *results);
      }
}
