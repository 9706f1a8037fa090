#include "facts/patterns.h"

#include <catch2/catch.hpp>

#include "opts/kernels.h"

using namespace svod;

TEST_CASE("Patterns are told apart by strides") {
  Graph g;
  Sizes s{8, 12, 5};
  CHECK(patternOf(buildMatmul(g, s)) == Pattern::Gemm);
  CHECK(patternOf(buildConv1d(g, s)) == Pattern::Conv);
  CHECK(patternOf(buildRowSum(g, s)) == Pattern::RowReduce);
  CHECK(patternOf(buildColumnSum(g, s)) == Pattern::ColumnReduce);
  CHECK(patternOf(buildFullMax(g, s)) == Pattern::FullReduce);
  CHECK(patternOf(buildAdd(g, s)) == Pattern::Streaming);
  CHECK(patternOf(buildTranspose(g, s)) == Pattern::Transpose);
  CHECK(patternOf(buildMatvec(g, s)) == Pattern::Gemv);
  CHECK(info(Pattern::Gemv).name == "gemv");
  CHECK(patternOf(buildSoftmax(g, s)) == Pattern::RowReduce);
  CHECK(patternOf(buildAttention(g, s)) == Pattern::Attention);
}
