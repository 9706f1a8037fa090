#include "cost/predict.h"

#include <catch2/catch.hpp>

#include "choose/choose.h"
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

}  // namespace

TEST_CASE("Predictions name what takes the time") {
  const double n = 512, m = 4096;
  Prediction product = predicted(buildMatmul, {512, 512, 512}, {2 * n * n * n, 3 * 4 * n * n});
  CHECK(product.limit == Limit::Compute);
  CHECK(product.roofline == Approx(2 * n * n * n / (2 * 2 * 16 * 2.0)));  // two FMAs of 16 lanes per cycle, 2 GHz
  CHECK(product.expected >= product.roofline);
  CHECK(product.expected < 4 * product.roofline);

  Prediction stream = predicted(buildAdd, {4096, 4096, 0}, {m * m, 3 * 4 * m * m});
  CHECK(stream.limit == Limit::Memory);
  CHECK(stream.expected == stream.roofline);
  CHECK(stream.roofline == Approx(3 * 4 * m * m / 8));  // 8 GB per second

  const Work fold{n * n, 4 * n * n};
  CHECK(predicted(buildFullMax, {512, 512, 0}, fold, false).limit == Limit::Latency);
  CHECK(predicted(buildFullMax, {512, 512, 0}, fold).limit != Limit::Latency);
}
