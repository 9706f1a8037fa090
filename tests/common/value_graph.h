// A graph of tests/frontend/values with what its comments say: inputs, variables and the expected outputs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "ir/model.h"

namespace svod {

struct ValueGraph {
  Model model;
  ModelBindings bindings;
  std::map<std::string, HostTensor> expected;  // by output
  double tolerance = 2e-5;                     // relative error of floats, absolute below 1
};

/// Fails the running test when the graph cannot be built or is not legal.
ValueGraph loadValueGraph(const std::string& path);
/// The paths of all such graphs, sorted.
std::vector<std::string> valueGraphs();
/// Compares the outputs among `results`, by Model::ports, with the expectations, in checks of the running
/// test.
void checkValues(const ValueGraph& graph, const std::vector<HostTensor>& results);

}  // namespace svod
