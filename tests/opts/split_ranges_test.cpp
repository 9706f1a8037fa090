// Loops whose counter is taken apart by divisions become a loop for each part.
#include "opts/split_ranges.h"

#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "interp/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "opts/kernels.h"
#include "schedule/schedule.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

/// The extents of the loops of the only kernel of a graph, outermost first, after the split. Every use of the result is
/// that of the kernel before.
std::string loopsOf(const std::string& text) {
  Model model = modelOf(text);
  Result<Schedule> schedule = makeSchedule(model, {.numerics = Numerics::Strict});
  if (!schedule) FAIL(toText(schedule.error()));
  REQUIRE(schedule->kernels.size() == 1);
  Kernel& kernel = schedule->kernels[0];
  const UOp before = simplifyKernel(*kernel.graph, kernel.sink, Numerics::Strict);
  const UOp after = splitRanges(*kernel.graph, before);
  INFO(text << toUopText(before) << "\n->\n" << toUopText(after));
  const Status legal = verify(after, Stage::Kernel);
  if (!legal) FAIL(toText(legal.error()));
  CHECK(sameBuffers(resultOf(before), resultOf(after), 0));
  CHECK(splitRanges(*kernel.graph, after) == after);
  std::string loops;
  for (UOp n : toposort(after))
    if (n.op() == Op::End || n.op() == Op::Reduce)
      for (UOp r : n.src().subspan(1)) loops += (loops.empty() ? "" : " ") + toExpr(r.src(0));
  return loops;
}

}  // namespace

TEST_CASE("a counter of which quotient and remainder are used is two") {
  CHECK(loopsOf("input x: f32[6, 8]\noutput y = reshape(transpose(x), shape=[48])\n") == "8 6");
  CHECK(loopsOf("input x: f32[4, 5, 6]\noutput y = reshape(permute(x, order=[2, 1, 0]), shape=[120])\n") == "6 5 4");
  CHECK(loopsOf("input x: f32[5, 6, 8]\noutput y = reshape(permute(x, order=[0, 2, 1]), shape=[5, 48])\n") == "5 8 6");
  CHECK(loopsOf("input x: f32[6, 8]\ninput z: f32[12, 4]\n"
                "output y = reshape(transpose(x), shape=[48]) + reshape(transpose(z), shape=[48])\n") == "4 2 6");
  CHECK(loopsOf("var n in [1, 9]\ninput x: f32[6, n, 4]\n"
                "output y = reshape(permute(x, order=[1, 2, 0]), shape=[n * 24])\n") == "n*4 6");
}

TEST_CASE("a counter of which only one of them is used stays one") {
  CHECK(loopsOf("input x: f32[6, 1]\noutput y = reshape(expand(x, shape=[6, 8]), shape=[48])\n") == "48");
  CHECK(loopsOf("input x: f32[1, 8]\noutput y = reshape(expand(x, shape=[6, 8]), shape=[48])\n") == "48");
  CHECK(loopsOf("input x: f32[48]\noutput y = x + 1\n") == "48");
}

TEST_CASE("divisors that do not divide each other or are small, those of sums, and reductions leave a counter whole") {
  CHECK(loopsOf("input x: f32[6, 4]\ninput z: f32[4, 6]\n"
                "output y = reshape(transpose(x), shape=[24]) + reshape(transpose(z), shape=[24])\n") == "24");
  CHECK(loopsOf("input x: f32[3, 16]\noutput y = reshape(transpose(x), shape=[48])\n") == "48");
  CHECK(loopsOf("input x: f32[6, 8]\noutput y = roll(reshape(transpose(x), shape=[48]), shifts=[3], axes=[0])\n") ==
        "48");
  CHECK(loopsOf("input x: f32[6, 8]\ninput w: f32[48]\noutput y = sum(reshape(transpose(x), shape=[48]) * w)\n") ==
        "48");
  CHECK(
      loopsOf("input x: f32[6, 8, 5]\noutput y = sum(reshape(permute(x, order=[1, 0, 2]), shape=[48, 5]), axes=1)\n") ==
      "5 48");
}
