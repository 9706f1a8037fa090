#include "facts/steps.h"

#include <catch2/catch.hpp>

#include "opts/kernel_parts.h"
#include "symbolic/symbolic.h"

using namespace svod;

TEST_CASE("Steps of an address through sizes of the run are compared by their factors") {
  Graph g;
  Builder b(g);
  UOp height = g.variable("height", 1, 100), width = g.variable("width", 1, 50);
  UOp c = b.loop(4), y = b.loop(height), x = b.loop(width);
  UOp address = simplify(g, b.add(b.mul(b.add(b.mul(c, height), b.mul(y, b.i(2))), width), b.mul(x, b.i(3))));
  const AddressStep ofChannel = *stepOf(address, c), ofLine = *stepOf(address, y), ofColumn = *stepOf(address, x);
  CHECK(ofColumn == AddressStep(3));
  CHECK(ofColumn.timesOf(AddressStep(1)) == 3);
  CHECK_FALSE(ofColumn.timesOf(AddressStep(2)));
  CHECK_FALSE(AddressStep(1).timesOf(ofColumn));
  CHECK_FALSE(ofLine.timesOf(AddressStep(1)));  // how many that is only a run knows
  CHECK_FALSE(ofChannel.timesOf(ofLine));
  CHECK(ofLine.timesOf(*stepOf(simplify(g, b.mul(y, width)), y)) == 2);
  CHECK(ofLine.most() == 2 * 50);
  CHECK(ofChannel.most() == 100 * 50);
  CHECK(ofLine.isForward());
  CHECK_FALSE(stepOf(simplify(g, b.mul(y, b.i(-2))), y)->isForward());
  CHECK(stepOf(address, b.loop(7))->isNone());
  CHECK_FALSE(stepOf(g.alu(Op::Floordiv, {y, b.i(3)}), y));  // steps of 0 and of 1
  CHECK_FALSE(stepOf(b.mul(y, y), y));
}

TEST_CASE("As many steps as a loop inside has make one step of the loop around it") {
  Graph g;
  Builder b(g);
  UOp width = g.variable("width", 1, 50), y = b.loop(9), x = b.loop(width);
  UOp address = simplify(g, b.add(b.mul(y, width), x));
  CHECK(stepOf(address, y) == stepOf(address, x, linearOf(width)));
  CHECK(stepOf(address, x) == AddressStep(1));
}
