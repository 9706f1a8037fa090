// Random graphs on GPUs: what is chosen for each of their kernels, as threads of workgroups, computes the same.
#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "common/gpu_lowering.h"
#include "common/random_graph.h"
#include "e2e/seeds.h"
#include "interp/same_values.h"
#include "ir/text.h"
#include "opts/replay.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

RandomOptions optionsFor(uint64_t seed) {
  RandomOptions options;
  options.contract = seed % 3 == 0, options.transcendentals = seed % 3 == 1;
  options.maxElements = seed % 2 ? 400 : 2000;
  return options;
}

Caps capsFor(uint64_t seed, Numerics numerics) {
  GpuTarget gpu = *findGpu(seed % 4 == 0 ? "sm_75" : "sm_80");
  if (seed % 5 == 0) gpu.maxThreads = 64, gpu.sharedBytes = 16 << 10;
  return capsOf(gpu, numerics);
}

}  // namespace

TEST_CASE("Kernels of random graphs keep their values with what is chosen for GPUs") {
  std::map<std::string_view, int> strategies;
  int compared = 0;
  for (uint64_t seed = 0; seed < numberFromEnvironment("SVOD_RANDOM_COUNT", 120); ++seed) {
    const RandomOptions options = optionsFor(seed);
    Model model = randomModel(seed, options);
    const Numerics numerics = options.contract ? Numerics::Contract : Numerics::Strict;
    ScheduleOptions scheduling;
    scheduling.numerics = numerics, scheduling.machine.narrowProducts = true;
    auto schedule = makeSchedule(model, scheduling);
    if (!schedule) FAIL(toText(schedule.error()));
    const Caps caps = capsFor(seed, numerics);
    for (Kernel& kernel : schedule->kernels) {
      Graph& g = *kernel.graph;
      const Choice choice = choose(g, kernel.sink, caps);
      ++strategies[choice.strategy];
      INFO("seed " << seed << "\n"
                   << choice.strategy << ": " << toText(optsOf(choice)) << "\n"
                   << toUopText(kernel.sink));
      auto tuned = applyOpts(g, kernel.sink, optsOf(choice), caps);
      if (!tuned) FAIL(toText(tuned.error()));
      Result<LinearKernel> threads = loweredForGpu(g, *tuned, caps.gpu);
      if (!threads) FAIL(toText(threads.error()));
      Status same = checkSameValues(kernel.sink, *threads);
      compared += same.has_value();
      if (!same && same.error()->diag != Diag::Unsupported) FAIL_CHECK(toText(same.error()));
    }
  }
  CHECK(compared > 300);
  CHECK(strategies["row-groups"] > 5);
  CHECK(strategies["grid-streams"] > 50);
}
