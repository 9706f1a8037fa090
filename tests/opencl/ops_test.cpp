// Every op of graph files, as OpenCL C that the device of this machine builds and runs, against the interpreter.
#include <catch2/catch.hpp>

#include "e2e/device_checks.h"
#include "opencl/on_opencl.h"

using namespace svod;

TEST_CASE("every op of graph files agrees with the interpreter on an OpenCL device") {
  if (!hasOpenCl()) return;
  const std::vector<std::string> paths = opGraphs();
  CHECK(paths.size() > 7);
  for (const std::string& path : paths)
    for (int level : {0, 1})
      for (const char* limits : {"", "small"}) {
        if (level == 0 && limits[0] != '\0') continue;
        INFO(path << " -O" << level << " " << limits);
        checkOpGraph(path, onOpenCl(level, Numerics::Contract, limits));
      }
}
