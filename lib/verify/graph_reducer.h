// Delta debugging of graph files: cut down to the few statements for which something is still wrong.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "frontend/graph_file.h"
#include "ir/model.h"

namespace svod {

/// Whether a graph builds, and fails as the first one did; its model then, by which types are known.
using GraphFails = std::function<bool(const GraphFile& file, Model* model)>;

/// Leaves out statements, makes inputs of values and weights, and puts operands in the place of calls, as long as the
/// graph still fails, until nothing helps any more or `isOver` says so. Takes `file` as one that fails.
GraphFile reducedGraph(GraphFile file, const GraphFails& fails, const std::function<bool()>& isOver);

/// How many statements it has, those of bodies among them.
size_t statementsOf(const GraphFile& file);

}  // namespace svod
