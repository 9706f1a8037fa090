#include "cost/predict.h"

#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "cost/kernel_cost.h"
#include "opts/kernels.h"
#include "opts/machines.h"
#include "opts/replay.h"

using namespace svod;

namespace {

Prediction predicted(UOp (*build)(Graph&, const Sizes&), const Sizes& sizes, const Work& work, bool chosen = true) {
  const Caps caps = avx512();
  Graph g;
  UOp sink = build(g, sizes);
  if (chosen) sink = *applyOpts(g, sink, chooseOpts(g, sink, caps), caps);
  return predict(sink, work, caps);
}

// Nanoseconds of a kernel with these opts in place of the chosen ones.
double costWith(UOp (*build)(Graph&, const Sizes&), const Sizes& sizes, const char* opts, const Caps& caps = avx512()) {
  Graph g;
  UOp sink = build(g, sizes);
  return costOf(KernelFacts(*applyOpts(g, sink, *parseOpts(opts), caps)), caps).total;
}

}  // namespace

TEST_CASE("Copies that do not stay in registers, and sums that wait, cost more") {
  const Sizes sizes{96, 512, 256};
  const double fits = costWith(buildMatmul, sizes, "upcast(0,8) vector(1,16) upcast(1,3)");
  CHECK(costWith(buildMatmul, sizes, "upcast(0,12) vector(1,16) upcast(1,8)") > 1.2 * fits);
  CHECK(costWith(buildMatmul, sizes, "vector(1,16)") > 2 * fits);  // one sum at a time waits for itself
  CHECK(costWith(buildMatmul, sizes, "") > 10 * fits);
}

TEST_CASE("A loop that leaves the part of an operand that stays in cache costs more") {
  // Columns of a panel outside of the rows: it is read once. Inside: all of the matrix is read again for every row.
  const char* inside = "upcast(0,8) vector(1,16) upcast(1,3)";
  const char* outside = "tile(1,48) order(1,0) upcast(1,8) vector(2,16) upcast(2,3)";
  for (int64_t rows : {64, 192}) {
    const Sizes large{rows, 3072, 1024};  // 12 MiB, where the second level holds 1
    CHECK(costWith(buildMatmul, large, inside) > 1.3 * costWith(buildMatmul, large, outside));
  }
}

TEST_CASE("Lines of which a loop uses one element are brought whole") {
  const Sizes sizes{2048, 2048, 0};
  CHECK(costWith(buildAdd, sizes, "vector(1,16)") < costWith(buildAdd, sizes, "order(1,0)") / 3);
  // Strides of a power of two use few places of a cache: the same elements of a wider matrix do not stay there.
  const double crowded = costWith(buildColumnSum, {512, 1024, 0}, "") / 1024;
  const double apart = costWith(buildColumnSum, {512, 1040, 0}, "") / 1040;
  CHECK(crowded > 1.05 * apart);
}

TEST_CASE("Predictions name what takes the time") {
  const double n = 192, m = 4096;
  Prediction product = predicted(buildMatmul, {192, 192, 192}, {2 * n * n * n, 3 * 4 * n * n});
  CHECK(product.limit == Limit::Compute);
  CHECK(product.roofline == Approx(2 * n * n * n / (2 * 2 * 16 * 2.0)));  // two FMAs of 16 lanes per cycle, 2 GHz
  CHECK(product.expected >= product.roofline);
  CHECK(product.expected < 4 * product.roofline);

  Prediction stream = predicted(buildAdd, {4096, 4096, 0}, {m * m, 3 * 4 * m * m});
  CHECK(stream.limit == Limit::Memory);
  CHECK(stream.expected < 1.1 * stream.roofline);
  CHECK(stream.roofline == Approx(3 * 4 * m * m / 8));  // 8 GB per second

  const Work fold{n * n, 4 * n * n};
  CHECK(predicted(buildFullMax, {512, 512, 0}, fold, false).limit == Limit::Latency);
  CHECK(predicted(buildFullMax, {512, 512, 0}, fold).limit != Limit::Latency);
}
