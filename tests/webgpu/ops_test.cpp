// Every op of graph files, as WGSL that an adapter of this machine runs, against the interpreter. Values of f64 are
// f32.
#include <catch2/catch.hpp>

#include "e2e/device_checks.h"
#include "webgpu/on_webgpu.h"

using namespace svod;

namespace {

/// Mesa's lavapipe leaves loops after 65,535 rounds of a thread, and -O0 has one thread sort all elements. Angles of
/// Fourier transforms are quotients of f64, which svodc computes and this harness leaves to kernels: webgpu/run has
/// them.
bool isBeyond(const std::string& path, int level) {
  return path.ends_with("fourier.svod") || (level == 0 && path.ends_with("indexing.svod"));
}

}  // namespace

TEST_CASE("every op of graph files agrees with the interpreter on an adapter of WebGPU") {
  if (!hasWebGpu()) return;
  const std::vector<std::string> paths = opGraphs();
  CHECK(paths.size() > 7);
  for (const std::string& path : paths)
    for (int level : {0, 1}) {
      if (isBeyond(path, level)) continue;
      INFO(path << " -O" << level);
      checkOpGraph(path, onWebGpu(level, level == 0 ? "large" : ""), false);
    }
}
