// The target with a grid and workgroups compiles every op of graph files. Its kernels, run as threads that meet at
// barriers, compute what the kernels do as they were scheduled.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "e2e/harness.h"
#include "frontend/frontend.h"
#include "interp/interp.h"
#include "opts/kernels.h"

using namespace svod;

namespace {

/// A kernel that the opts left without a grid is one thread.
bool hasGrid(const LinearKernel& kernel) {
  return std::ranges::any_of(kernel.ops, [](UOp n) { return n.op() == Op::Special; });
}

struct Counts {
  int kernels = 0, grids = 0;
};

/// Functions are exact in the oracle and polynomials in the threads: near a zero, what is left of 1 differs.
bool areNear(const Buffers& expected, const Buffers& got) {
  for (size_t slot = 0; slot < expected.size(); ++slot)
    for (int64_t i = 0; i < expected[slot].numel(); ++i) {
      const Scalar x = expected[slot].at(i), y = got[slot].at(i);
      if (x != y &&
          (!isFloat(x.dtype()) || !(std::abs(x.asFloat() - y.asFloat()) <= 1e-4 * (std::abs(x.asFloat()) + 1))))
        return false;
    }
  return true;
}

void checkKernels(const std::string& path, int level, Counts& counts) {
  Result<GraphFile> file = readGraphFile(path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  CompileOptions options = compileOptions({});
  options.target = *targetByName("emulated"), options.machine = *options.target->machine("", "");
  options.optLevel = level;
  auto compilation = compile(*model, options);
  if (!compilation) FAIL(toText(compilation.error()));
  for (const CompiledKernel& kernel : (*compilation)->kernels) {
    INFO(kernel.name << " with " << kernel.desc.opts);
    Buffers threads = makeBuffers(kernel.ast);
    Status status = interpretLinear(kernel.linear, threads, valuesOf(kernel.ast));
    if (!status) FAIL(toText(status.error()));
    CHECK(areNear(resultOf(kernel.ast), threads));
    counts.kernels++, counts.grids += hasGrid(kernel.linear);
  }
}

}  // namespace

TEST_CASE("every op of graph files computes the same as threads of workgroups") {
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_TEST_DIR "/ops"))
    for (int level : {0, 1}) {
      INFO(entry.path().string() << " -O" << level);
      checkKernels(entry.path().string(), level, counts);
    }
  CHECK(counts.grids * 3 > counts.kernels);  // all of -O1 but kernels of one element
}
