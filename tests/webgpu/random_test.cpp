// Random graphs, most with free sizes, as WGSL that an adapter of this machine runs, against the interpreter: within
// computed bounds.
#include <catch2/catch.hpp>

#include "e2e/device_checks.h"
#include "e2e/seeds.h"
#include "webgpu/on_webgpu.h"

using namespace svod;

TEST_CASE("random graphs stay within the computed bounds on an adapter of WebGPU") {
  if (!hasWebGpu()) return;
  ComparedElements compared;
  forSeeds(30, {}, [&](uint64_t seed) {
    const RunOptions options = onWebGpu(static_cast<int>(seed % 4 != 0), seed % 3 == 0 ? "large" : "");
    return randomGraphDifference(seed, options, compared, false);
  });
  INFO(compared.unbounded << " of " << compared.all << " elements may be anything");
  CHECK((compared.all < 20000 || compared.unbounded < compared.all / 8));
}
