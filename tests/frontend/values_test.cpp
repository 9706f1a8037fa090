// Every op against results computed by numpy: the graphs of values/, written by make_values.py, through the
// interpreter.
#include <catch2/catch.hpp>

#include "common/value_graph.h"

using namespace svod;

TEST_CASE("every op gives the values its definition asks for") {
  std::vector<std::string> paths = valueGraphs();
  CHECK(paths.size() > 20);
  for (const std::string& path : paths) {
    INFO(path);
    ValueGraph graph = loadValueGraph(path);
    Result<std::vector<HostTensor>> results = interpret(graph.model, graph.bindings);
    if (!results) FAIL(toText(results.error()));
    checkValues(graph, *results);
  }
}
