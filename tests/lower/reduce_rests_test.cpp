#include "lower/reduce_rests.h"

#include "lower/tile_rests.h"
#include "rest_kernels.h"

using namespace svod;

namespace {

constexpr int64_t kRows = 3;

/// out[m] = the largest x[m,k] + the sum of x[m,k] + the sum of x[m,k] for k up to m. Buffers end with the last term.
UOp buildFolds(Graph& g, UOp terms) {
  Builder b(g);
  UOp r0 = b.loop(kRows);
  const auto fold = [&](Op op, UOp count) {
    UOp k = b.loop(count, AxisType::Reduce), size = b.mul(b.i(kRows), terms), at = b.add(b.mul(r0, terms), k);
    UOp x = g.make(Op::Param, DType::F32, {size}, SlotArg{1, Space::Global});
    return b.reduce(op, g.load(g.indexInto(x, std::vector<UOp>{at})), {k});
  };
  UOp sum = b.add(fold(Op::Max, terms), fold(Op::Add, terms));
  sum = b.add(sum, fold(Op::Add, g.alu(Op::Min, {terms, b.add(r0, b.i(1))})));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {kRows}, {r0}), sum), {r0})});
}

Buffers storedFor(UOp sink, int64_t terms) {
  Buffers buffers{HostTensor::zeros(DType::F32, {kRows}), HostTensor::zeros(DType::F32, {kRows * terms})};
  for (int64_t i = 0; i < kRows * terms; ++i)
    buffers[1].set(i, Scalar::of(DType::F32, static_cast<double>((i * 7) % 11 - 4)));
  return ranWith(sink, std::move(buffers), "terms", terms);
}

bool isSumOfLoads(UOp n) {
  return n.op() == Op::Reduce && n.src(0).op() == Op::Load && n.src(0).srcCount() == 1 &&
         n.argAs<ReduceArg>().op == Op::Add;
}

}  // namespace

TEST_CASE("Sums of a free number of terms are right whatever is left of the last step") {
  for (int64_t least : {0, 1})
    for (const char* opts : {"vector(1,4)", "acc(1,3)", "vector(1,4) acc(1,3)", "vector(1,4) unroll(1,2)",
                             "vector(1,4) acc(1,2) vector(2,4) acc(2,2)", "acc(2,5) vector(1,2)"}) {
      INFO(opts);
      Graph g;
      UOp plain = buildFolds(g, g.variable("terms", least, 100)), tuned = withOpts(g, plain, opts);
      UOp split = splitReduceRests(g, tuned), loops = lowered(g, split);
      REQUIRE(split != tuned);
      checkStages(split, loops);
      for (int64_t terms = 1; terms <= 26; ++terms) {
        INFO(terms << " terms");
        const Buffers expected = storedFor(plain, terms);
        CHECK(sameBuffers(expected, storedFor(split, terms), 0));
        CHECK(sameBuffers(expected, storedFor(loops, terms), 0));
      }
    }
}

TEST_CASE("Sums in tiles that have rests stay within the loops of these") {
  Graph g;
  Builder b(g);
  UOp n = g.variable("n", 1, 20), r0 = b.loop(n), k = b.loop(n, AxisType::Reduce);
  UOp x = g.make(Op::Param, DType::F32, {b.mul(n, n)}, SlotArg{1, Space::Global});
  UOp sum = b.reduce(Op::Add, g.load(g.indexInto(x, std::vector<UOp>{b.add(b.mul(r0, n), k)})), {k});
  UOp plain = b.sink({b.end(b.store(b.at(0, DType::F32, {20}, {r0}), sum), {r0})});
  UOp tiles = splitTileRests(g, withOpts(g, plain, "upcast(0,6) vector(1,4) acc(1,2) thread(0,1)"));
  UOp split = splitReduceRests(g, tiles), loops = lowered(g, split);
  REQUIRE(split != tiles);
  checkStages(split, loops);
  for (int64_t size = 1; size <= 20; ++size) {
    INFO("n = " << size);
    Buffers buffers{HostTensor::zeros(DType::F32, {20}), HostTensor::zeros(DType::F32, {size * size})};
    for (int64_t i = 0; i < size * size; ++i)
      buffers[1].set(i, Scalar::of(DType::F32, static_cast<double>((i * 7) % 11 - 4)));
    const Buffers expected = ranWith(plain, buffers, "n", size);
    CHECK(sameBuffers(expected, ranWith(split, buffers, "n", size), 0));
    CHECK(sameBuffers(expected, ranWith(loops, buffers, "n", size), 0));
  }
}

TEST_CASE("Whole steps of a sum have no masks") {
  Graph g;
  UOp split = splitReduceRests(g, withOpts(g, buildFolds(g, g.variable("terms", 1, 100)), "vector(2,4) acc(2,3)"));
  CHECK(std::ranges::any_of(toposort(split), isSumOfLoads));
}

TEST_CASE("A sum of at most one whole step keeps its mask: no load happens where that step does not") {
  for (int64_t most : {15, 16}) {
    Graph g;
    UOp tuned = withOpts(g, buildFolds(g, g.variable("terms", 1, most)), "vector(2,4) acc(2,2)");
    CHECK((splitReduceRests(g, tuned) == tuned) == (most < 16));
  }
}

TEST_CASE("Sums of a constant number of terms have a mask behind their loop alone") {
  for (const char* opts : {"vector(1,4)", "acc(1,3)", "vector(1,4) acc(1,3)", "vector(1,2) acc(1,4)"})
    for (int64_t terms : {25, 35, 48, 71}) {
      INFO(opts << " of " << terms);
      Graph g;
      UOp plain = buildFolds(g, g.index(terms)), tuned = withOpts(g, plain, opts);
      UOp split = splitReduceRests(g, tuned), loops = lowered(g, split);
      checkStages(split, loops);
      const Buffers expected = storedFor(plain, terms);
      CHECK(sameBuffers(expected, storedFor(tuned, terms), 0));
      CHECK(sameBuffers(expected, storedFor(split, terms), 0));
      CHECK(sameBuffers(expected, storedFor(loops, terms), 0));
      CHECK((split == tuned) == (terms == 48));
      CHECK(std::ranges::any_of(toposort(split), isSumOfLoads));
    }
}

TEST_CASE("Sums in order keep their one loop") {
  Graph g;
  UOp inOrder = withOpts(g, buildFolds(g, g.variable("terms", 1, 100)), "unroll(1,4)");
  CHECK(splitReduceRests(g, inOrder) == inOrder);
  UOp known = withOpts(g, buildFolds(g, g.index(21)), "unroll(1,4)");
  CHECK(splitReduceRests(g, known) == known);
}
