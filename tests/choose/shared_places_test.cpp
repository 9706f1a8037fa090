// Loops that computed places do not depend on go inside of the others.
#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "common/model_text.h"
#include "interp/interp.h"
#include "ir/verify.h"
#include "opts/kernels.h"
#include "opts/opt_checks.h"
#include "opts/replay.h"
#include "schedule/schedule.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

/// What is chosen for the only kernel of the graph, which computes the same with it.
std::string chosenFor(const std::string& text) {
  Model model = modelOf(text);
  Result<Schedule> schedule = makeSchedule(model, {});
  REQUIRE(schedule);
  REQUIRE(schedule->kernels.size() == 1);
  Kernel& kernel = schedule->kernels[0];
  const Caps caps = cpuCaps();
  const UOp before = simplifyKernel(*kernel.graph, kernel.sink, Numerics::Contract);
  const std::vector<OptOp> opts = optsOf(choose(*kernel.graph, before, caps));
  const Result<UOp> tuned = applyOpts(*kernel.graph, before, opts, caps);
  REQUIRE(tuned);
  REQUIRE(verify(*tuned, Stage::Kernel));
  CHECK(sameBuffers(resultOf(before), resultOf(*tuned), 0));
  return toText(opts);
}

/// Rows of `channels` images at places between elements, of which `count` are given.
std::string blended(const std::string& channels, const std::string& count) {
  return "input x: f32[" + channels + ", 40]\ninput g: f32[" + count + "]\n" +
         "p = abs(sin(g) * cos(g * 0.37)) * 38.5\nq = floor(p)\nr = p - q\ni = cast(q, dtype=i32)\n" +
         "output y = (1.0 - r) * gather(x, i, axis=1) + r * (1.0 - abs(r) * 0.5) * gather(x, i + 1, axis=1)\n";
}

}  // namespace

TEST_CASE("Channels under one grid of places are the innermost loop, in blocks") {
  CHECK_THAT(chosenFor(blended("37", "48")), Catch::Contains("tile(n0,16) order(n1,n0.i)"));
  CHECK_THAT(chosenFor(blended("12", "48")), Catch::Contains("order(n1,n0)"));
  CHECK_THAT(chosenFor(blended("3", "48")), !Catch::Contains("order("));
}

TEST_CASE("Places that take little to compute stay where they are") {
  CHECK_THAT(chosenFor("input x: f32[37, 40]\ninput i: i32[48]\noutput y = gather(x, i, axis=1)\n"),
             !Catch::Contains("order("));
}
