// What plans for devices are compared with: the interpreter, on the graphs of every op and on random ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "e2e/harness.h"

namespace svod {

/// tests/e2e/ops: together they have every op of graph files.
std::vector<std::string> opGraphs();
/// Checks each output of such a graph, on random data, against its computed bound. Without f64 such values are f32.
void checkOpGraph(const std::string& path, const RunOptions& options, bool hasF64 = true);

/// Elements of floats whose results were compared, and those of them that may be anything.
struct ComparedElements {
  int64_t all = 0, unbounded = 0;
};
/// What is wrong with the run of a random graph, reduced to the least that is; "" where nothing is. Every third graph
/// has loops, every third sizes at their edges; most have products, rows and the like. Bit for bit in strict numerics.
std::string randomGraphDifference(uint64_t seed, const RunOptions& options, ComparedElements& compared,
                                  bool hasF64 = true);

}  // namespace svod
