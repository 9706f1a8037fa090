// Every op of graph files, printed for CUDA and run on the emulated grid, against the interpreter: in three modes of
// delays.
#include <catch2/catch.hpp>

#include "cuda_grid/on_grid.h"
#include "e2e/device_checks.h"

using namespace svod;

TEST_CASE("every op of graph files agrees with the interpreter on the emulated grid") {
  const std::vector<std::string> paths = opGraphs();
  CHECK(paths.size() > 7);
  for (const std::string& path : paths)
    for (int level : {0, 1}) {
      INFO(path << " -O" << level);
      checkOpGraph(path, onGrid(level, Numerics::Contract, 7));
    }
}
