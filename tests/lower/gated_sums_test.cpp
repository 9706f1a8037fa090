#include "opts/gated_sums.h"

#include <algorithm>

#include "free_convolution.h"
#include "opts/opt.h"

using namespace svod;

namespace {

/// Loops of sums whose number of iterations depends on the line of the result.
int64_t shorterLoops(UOp sink) {
  return std::ranges::count_if(toposort(sink), [](UOp n) {
    return n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Reduce && !n.src(0).isConst();
  });
}

void checkSizes(const Convolution& conv, UOp plain, UOp loops) {
  for (int64_t height : {1, 2, 3, 4, 5, 9})
    for (int64_t width : {1, 2, 3, 4, 7, 16, 19}) {
      INFO(height << " x " << width);
      CHECK(sameBuffers(conv.storedFor(plain, height, width), conv.storedFor(loops, height, width), 0));
    }
}

}  // namespace

TEST_CASE("Sums under windows run over the lines that are there, and results are right") {
  for (int64_t step : {1, 2, 3})
    for (int64_t dilation : {1, 2, 3})
      for (bool isPool : {false, true})
        for (const char* opts : {"vector(2,4) unroll(4,3)", "vector(2,4) upcast(2,2) unroll(4,3)", "thread(0,1)",
                                 "vector(2,4) upcast(2,2) unroll(4,3) order(2,1)"}) {
          const Convolution conv{step, true, dilation, isPool};
          INFO("step " << step << ", dilation " << dilation << (isPool ? ", pool " : " ") << opts);
          Graph g;
          UOp plain = conv.build(g), tuned = withOpts(g, plain, opts), loops = lowered(g, tuned);
          CHECK(shorterLoops(tuned) == (std::string(opts) == "thread(0,1)" ? 2 : 1));
          CHECK_FALSE(hasGatedSums(g, tuned, Numerics::Contract));
          checkStages(tuned, loops);
          checkSizes(conv, plain, loops);
        }
}

TEST_CASE("Sums over channels keep these whole") {
  const Convolution conv{1, false};
  Graph g;
  UOp plain = conv.build(g), tuned = withOpts(g, plain, "upcast(0,2) vector(2,4) unroll(5,3)");
  CHECK(shorterLoops(tuned) == 1);
  checkSizes(conv, plain, lowered(g, tuned));
}

TEST_CASE("Sums of strict numerics keep the zeros of padding, maxima need none") {
  for (bool isPool : {false, true}) {
    Graph g;
    UOp plain = Convolution{1, true, 1, isPool}.build(g);
    CHECK(hasGatedSums(g, plain, Numerics::Contract));
    CHECK(hasGatedSums(g, plain, Numerics::Strict) == isPool);
    CHECK((boundSums(g, plain, Numerics::Strict) == plain) == !isPool);
  }
}

TEST_CASE("A loop around another sum does not end where that sum's counter says") {
  Graph g;
  Builder b(g);
  UOp width = g.variable("width", 1, 60), at = b.loop(8, AxisType::Reduce), tap = b.loop(3, AxisType::Reduce);
  UOp x = g.indexInto(g.make(Op::Param, DType::F32, {width}, SlotArg{1, Space::Global}), std::vector{b.add(at, tap)});
  UOp value = g.load(x, g.constant(Scalar::of(DType::F32, 0)), b.lt(b.add(at, tap), width));
  UOp weight = b.read(2, {3}, {tap});  // both sums share a loop, so that it stays whole
  UOp product = b.mul(b.reduce(Op::Add, value, {tap}), b.reduce(Op::Add, weight, {tap}));
  UOp sink = b.sink({b.store(b.at(0, DType::F32, {1}, {b.i(0)}), b.reduce(Op::Add, product, {at}))});
  CHECK(boundSums(g, sink, Numerics::Contract) == sink);
}
