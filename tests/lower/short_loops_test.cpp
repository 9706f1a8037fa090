#include "lower/short_loops.h"

#include "free_convolution.h"
#include "lower/tile_rests.h"
#include "symbolic/symbolic.h"

using namespace svod;

TEST_CASE("Windows over pictures of any size are copied, and results are right") {
  const char* const lists[] = {
      "tile(1,2) tile(3,4) order(1,3,0,2,4) window(1,5,6,7,3,4)",
      "tile(1,4) tile(3,8) order(1,3,0,2,4) window(1,5,6,7,3,4) upcast(2,2) vector(4,4)",
      "tile(1,4) tile(3,8) order(1,3,0,2,4) window(1,5,6,7,3,4) upcast(3,2) vector(4,4) upcast(4,2)",
      "tile(1,3) tile(3,5) order(1,3,0,2,4) window(1,5,6,7,3,4) vector(2,4) upcast(4,5) thread(0,1)"};
  for (int64_t step : {1, 2})
    for (const char* opts : lists) {
      const Convolution conv{step, false};
      INFO(opts << ", step " << step);
      Graph g;
      UOp plain = conv.build(g), tuned = withOpts(g, plain, opts);
      for (UOp n : toposort(tuned))  // no gate on what the windows read
        if (n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Fill) CHECK(n.srcCount() == 1);
      UOp shorter = shortenLoops(g, tuned), loops = lowered(g, splitTileRests(g, shorter));
      REQUIRE(shorter != tuned);
      checkStages(shorter, loops);
      for (int64_t height : {1, 2, 3, 5, 8, 13})
        for (int64_t width : {1, 2, 4, 7, 16, 19}) {
          INFO(height << " x " << width);
          const Buffers expected = conv.storedFor(plain, height, width);
          for (UOp kernel : {tuned, shorter, loops})
            CHECK(sameBuffers(expected, conv.storedFor(kernel, height, width), 0));
        }
    }
}

TEST_CASE("Windows of a depthwise convolution are copied for their own results") {
  for (int64_t step : {1, 2}) {
    const Convolution conv{step, true};
    Graph g;
    UOp plain = conv.build(g);
    UOp tuned = withOpts(g, plain, "tile(1,4) tile(3,8) order(0,1,3,2,4) window(1,5,6,3,4) upcast(3,2) vector(4,4)");
    UOp shorter = shortenLoops(g, tuned), loops = lowered(g, shorter);
    checkStages(shorter, loops);
    for (int64_t height : {1, 3, 6, 9})
      for (int64_t width : {1, 5, 8, 17})
        CHECK(sameBuffers(conv.storedFor(plain, height, width), conv.storedFor(loops, height, width), 0));
  }
}

TEST_CASE("A loop of a tile runs as far as the axis goes") {
  Graph g;
  UOp plain = Convolution{1, false}.build(g), tuned = withOpts(g, plain, "tile(1,8)");
  UOp shorter = shortenLoops(g, tuned);
  int ends = 0;
  for (UOp n : toposort(shorter)) {
    const bool isLoop = n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Loop;
    if (isLoop && !n.src(0).isConst() && !n.src(0).ranges().empty()) ++ends;
    if (n.op() == Op::Store) CHECK(n.src(2).isConst(1));  // nothing is left to mask
  }
  CHECK(ends == 1);
  CHECK(shortenLoops(g, shorter) == shorter);
}

TEST_CASE("A loop that two nests share ends early only where both do") {
  for (bool areAlike : {true, false}) {
    Graph g;
    Builder b(g);
    UOp rows = g.variable("rows", 1, 20), tile = b.loop(g.alu(Op::Floordiv, {b.add(rows, b.i(3)), b.i(4)})),
        row = b.loop(4);
    UOp at = simplify(g, b.add(b.mul(tile, b.i(4)), row));
    const auto nest = [&](uint32_t slot, UOp gate) {
      UOp out =
          g.indexInto(g.make(Op::Param, DType::F32, {b.i(24)}, SlotArg{slot, Space::Global}), std::vector<UOp>{at});
      UOp one = g.constant(Scalar::of(DType::F32, 1));
      UOp store = gate ? g.make(Op::Store, DType::Void, {out, one, gate}) : b.store(out, one);
      return b.end(store, {tile, row});
    };
    UOp sink = b.sink({nest(0, b.lt(at, rows)), nest(1, areAlike ? b.lt(at, rows) : UOp())});
    CHECK((shortenLoops(g, sink) != sink) == areAlike);
  }
}

TEST_CASE("A loop stays whole where nests that share it run it at different depths") {
  Graph g;
  Builder b(g);
  UOp rows = g.variable("rows", 1, 20), row = b.loop(4), column = b.loop(3), at = b.add(row, column);
  const auto nest = [&](uint32_t slot, std::vector<UOp> loops) {
    UOp out = g.indexInto(g.make(Op::Param, DType::F32, {b.i(24)}, SlotArg{slot, Space::Global}), std::vector<UOp>{at});
    UOp one = g.constant(Scalar::of(DType::F32, 1));
    return b.end(g.make(Op::Store, DType::Void, {out, one, b.lt(at, rows)}), std::move(loops));
  };
  UOp sink = b.sink({nest(0, {row, column}), nest(1, {column, row})});
  for (UOp n : toposort(shortenLoops(g, sink)))
    if (n.op() == Op::Store) CHECK(n.src(2).op() == Op::Lt);
}
