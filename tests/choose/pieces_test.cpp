// Loops along which a stream reads in pieces become a loop for each piece.
#include "choose/pieces.h"

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

/// The extents of the innermost loops of the only kernel of a graph after the split. It computes what it did before.
std::string piecesOf(const std::string& text) {
  Model model = modelOf(text);
  Result<Schedule> schedule = makeSchedule(model, {.numerics = Numerics::Strict});
  if (!schedule) FAIL(toText(schedule.error()));
  REQUIRE(schedule->kernels.size() == 1);
  Kernel& kernel = schedule->kernels[0];
  Caps caps;
  caps.numerics = Numerics::Strict;
  const UOp before = simplifyKernel(*kernel.graph, kernel.sink, Numerics::Strict);
  const UOp after = splitPieces(*kernel.graph, before, caps);
  INFO(text << toUopText(before) << "\n->\n" << toUopText(after));
  const Status legal = verify(after, Stage::Kernel);
  if (!legal) FAIL(toText(legal.error()));
  CHECK(sameBuffers(resultOf(before), resultOf(after), 0));
  std::string pieces;
  for (UOp n : toposort(after))
    if (n.op() == Op::End && n.src(0).op() == Op::Store)
      pieces += (pieces.empty() ? "" : " ") + toExpr(n.src(1).src(0));
  return after == before ? "whole" : pieces;
}

}  // namespace

TEST_CASE("Padding along a line is a piece on each side of a plain copy") {
  const std::string image = "input x: f32[3, 9, 40]\noutput y = pad(x, before=[0, 2, 3], after=[0, 1, 5], mode=";
  CHECK(piecesOf(image + "reflect)\n") == "3 40 5");
  CHECK(piecesOf(image + "edge)\n") == "3 40 5");
  CHECK(piecesOf(image + "wrap)\n") == "3 40 5");
  CHECK(piecesOf("input x: i8[2, 5, 17]\noutput y = pad(x, before=[0, 0, 16], after=[0, 0, 15], mode=reflect)\n") ==
        "16 17 15");
  CHECK(piecesOf("input x: f64[2, 5, 40]\noutput y = pad(x, before=[0, 0, 1], after=[0, 0, 0], mode=reflect)\n") ==
        "40");  // a piece of one element has no loop
}

TEST_CASE("Lines that bend often, or are short, stay whole, and so do the outermost loops") {
  CHECK(piecesOf("input x: f32[3, 9, 6]\noutput y = pad(x, before=[0, 0, 2], after=[0, 0, 2], mode=reflect)\n") ==
        "whole");
  CHECK(piecesOf("input x: f32[90]\noutput y = pad(x, before=[3], after=[3], mode=reflect)\n") == "whole");
  CHECK(piecesOf("input x: f32[4, 40]\noutput y = resize(x, size=[80], axes=[1])\n") == "whole");
}
