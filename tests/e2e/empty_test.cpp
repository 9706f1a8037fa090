// Variables that may be 0, and dims made from several. Where a dim holds nothing, kernels touch nothing. All memory
// lies between pages that fault.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

const char* const kOps[] = {
    "max_pool(x, kernel=[2, 2], padding=1)",
    "avg_pool(x, kernel=[2, 2], stride=[1, 1], padding=1)",
    "conv2d(x, w, padding=1)",
    "conv2d(x, w, stride=2, padding=1)",
    "conv_transpose2d(x, t, stride=2)",
    "matmul(x, m)",
    "matmul(permute(x, order=[0, 1, 3, 2]), x)",
    "softmax(x)",
    "attention(x, x, x)",
    "sum(x, axes=0)",
    "sum(x, axes=[1, 2])",
    "reduce_max(x, axes=[0, 3])",
    "cumsum(x, axis=0)",
    "flip(x, axes=[0])",
    "pad(x, before=[1, 0, 0, 0], after=[1, 0, 1, 0], value=1)",
    "permute(x, order=[1, 0, 3, 2]) * 2",
    "resize(x, size=[n + 1], axes=[0], mode=linear)",
    "resize(x, size=[2 * n], axes=[0], mode=nearest)",
};

std::string graphOf(const std::string& op, int most, const std::string& dim) {
  return "var n in [0, " + std::to_string(most) + "]\ninput x: f32[" + dim +
         ", 8, 5, 3]\nweight w: f32[16, 8, 3, 3] = 0.5\nweight t: f32[8, 6, 3, 3] = 0.25\n"
         "weight m: f32[3, 33] = 2\noutput y = " +
         op + "\n";
}

}  // namespace

TEST_CASE("kernels over nothing touch nothing") {
  for (const char* op : kOps)
    for (int most : {1, 4, 64})
      for (const char* dim : {"n", "4 * n"})
        for (int64_t n : {0, 1}) checkBetweenGuards(graphOf(op, most, dim), n);
}

TEST_CASE("results with two dims that variables give, less than those of the operand") {
  for (const char* op :
       {"conv2d(x, w)", "conv2d(x, w, stride=2)", "max_pool(x, kernel=2)", "slice(x, starts=[0, 0, 1, 0])"})
    for (int64_t n : {3, 7, 20})
      checkBetweenGuards(
          "var n in [3, 20]\nvar m in [3, 20]\ninput x: f32[1, 3, n, m]\nweight w: f32[5, 3, 3, 3] = 0.5\n"
          "output y = " +
              std::string(op) + "\n",
          n);
}
