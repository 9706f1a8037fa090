// A real kernel measured on the processor that this runs on.
#include <catch2/catch.hpp>

#include <cstring>
#include <thread>

#include "choose/choose.h"
#include "compiled_kernel.h"
#include "measure/cpu_measure.h"
#include "measure/interpreted.h"
#include "measure/test_data.h"

using namespace svod;

TEST_CASE("What is measured of a kernel comes from its code") {
  CompiledGraph bench(kProduct);
  CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "", CpuMeasure::Clock::time_point::max());
  const std::vector<OptOp> baseline = optsOf(bench.kernel->choice);
  REQUIRE(measure.begin({baseline, toText(baseline), "-O1", 0, {}}));
  const Candidate plain{{}, "", "test", 0, {}},
      broken{parseOpts("vector(n9,16)").value(), "vector(n9,16)", "test", 0, {}};
  const Candidate both[] = {plain, broken};
  const std::vector<Prepared> prepared = measure.prepare(both);
  CHECK(prepared[0].verdict.outcome == Outcome::Timed);
  CHECK(prepared[1].verdict.outcome == Outcome::CompileFailed);
  const TrialResult timed = measure.time(plain, 0);
  CHECK((timed.outcome == Outcome::Timed && timed.nanoseconds > 0));
  CHECK(measure.compare(plain).outcome == Outcome::Loses);
  CHECK(measure.time(broken, 0).outcome == Outcome::CompileFailed);
  CHECK(!measure.isOver());
}

TEST_CASE("The search ends so early that what is fastest can be compared before the deadline") {
  using Clock = CpuMeasure::Clock;
  const struct {
    const char* graph;
    std::chrono::milliseconds before;  // the deadline: less than what is kept
  } cases[] = {
      {kProduct, std::chrono::milliseconds(20)},
      {"input a: f32[400, 400]\ninput b: f32[400, 400]\noutput y = matmul(a, b)\n", std::chrono::milliseconds(80)}};
  for (const auto& [graph, before] : cases) {
    INFO(graph);
    CompiledGraph bench(graph);
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(4);
    CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "", deadline);
    const std::vector<OptOp> baseline = optsOf(bench.kernel->choice);
    REQUIRE(measure.begin({baseline, toText(baseline), "-O1", 0, {}}));
    const Clock::time_point begun = Clock::now(), mostKept = deadline - (deadline - begun) / 4;
    const bool isOver = measure.isOver();
    CHECK((!isOver || Clock::now() >= mostKept));
    std::this_thread::sleep_until(deadline - before);
    CHECK(measure.isOver());
  }
}

TEST_CASE("Errors are told from what the interpreter says, where it is near and small kernels are asked for") {
  const auto dataFor = [](CompiledGraph& bench, std::vector<size_t> elements) {
    KernelData data;
    for (size_t slot = 0; slot < elements.size(); ++slot) {
      data.types.push_back(ElementType::F32);
      data.operands.emplace_back(4 * elements[slot]);
      fillWithData(data.operands[slot], ElementType::F32, slot);
    }
    const std::vector<CompiledCandidate> made = bench.of({""});
    REQUIRE(runReference(made[0].code, data, {}).outcome == Outcome::Timed);
    return data;
  };
  const auto moved = [](KernelData data, float by) {
    float first;
    std::memcpy(&first, data.wanted[0].data(), sizeof first);
    first += by;
    std::memcpy(data.wanted[0].data(), &first, sizeof first);
    return data;
  };
  CompiledGraph bench("var n in [1, 9]\ninput x: f32[n, 24]\noutput y = x * 3 + 1\n");
  const KernelData right = dataFor(bench, {216, 216});
  KernelData near = moved(right, 0x1p-20F), far = moved(right, 1);
  REQUIRE(preferInterpreted(*bench.kernel, near, kLikely));
  CHECK(worstUnits(near.wanted[0], right.wanted[0], ElementType::F32) <= 1);  // of one rounding more
  REQUIRE(preferInterpreted(*bench.kernel, far, kLikely));
  CHECK(far.wanted[0] == moved(right, 1).wanted[0]);
  CompiledGraph large("input x: f32[1200, 1200]\noutput y = x * 3 + 1\n");
  KernelData untouched = moved(dataFor(large, {1440000, 1440000}), 0x1p-20F);
  const KernelData before = untouched;
  CHECK(!preferInterpreted(*large.kernel, untouched, kLikely));
  CHECK(untouched.wanted == before.wanted);
}
