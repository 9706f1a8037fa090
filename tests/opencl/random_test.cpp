// Random graphs, most with free sizes, as OpenCL C that the device of this machine builds and runs, against the
// interpreter: bit for bit in strict numerics, within computed bounds in contract numerics.
#include <catch2/catch.hpp>

#include "e2e/device_checks.h"
#include "e2e/seeds.h"
#include "opencl/on_opencl.h"

using namespace svod;

namespace {

std::string check(uint64_t seed, Numerics numerics, ComparedElements& compared) {
  return randomGraphDifference(seed, onOpenCl(static_cast<int>(seed % 4 != 0), numerics, seed % 3 == 0 ? "small" : ""),
                               compared);
}

}  // namespace

TEST_CASE("random graphs on an OpenCL device equal the interpreter bit for bit") {
  if (!hasOpenCl()) return;
  ComparedElements compared;
  forSeeds(30, {}, [&](uint64_t seed) { return check(seed, Numerics::Strict, compared); });
}

TEST_CASE("random graphs with reassociated sums stay within the computed bounds on an OpenCL device") {
  if (!hasOpenCl()) return;
  ComparedElements compared;
  forSeeds(30, {}, [&](uint64_t seed) { return check(seed, Numerics::Contract, compared); });
  INFO(compared.unbounded << " of " << compared.all << " elements may be anything");
  CHECK((compared.all < 20000 || compared.unbounded < compared.all / 8));
}
