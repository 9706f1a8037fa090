// Tiles on axes whose size only a run knows. All memory lies between pages that fault.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

const char* const kGraphs[] = {
    "var n in [0, 300]\ninput x: f32[3, n]\noutput y = softmax(x)\noutput z = sum(x, axes=1)\n",
    "var n in [1, 300]\ninput x: f32[9, n]\ninput w: f32[n]\noutput y = matmul(x, w)\n",
    "var n in [1, 100]\ninput x: f32[n, 24]\nweight w: f32[24, 40] = 0.5\noutput y = relu(matmul(x, w) + 1)\n",
    "var n in [0, 100]\ninput x: f32[24, n]\ninput w: f32[24, 40]\noutput y = matmul(permute(x, order=[1, 0]), w)\n",
    "var n in [1, 100]\ninput x: f32[3, n, 24]\ninput w: f32[3, 24, 20]\noutput y = matmul(x, w)\n",
    "var n in [1, 100]\ninput x: f32[n, 24]\noutput y = sum(x, axes=1)\noutput z = reduce_max(x, axes=1)\n",
    ("var n in [1, 100]\ninput x: i8[n, 24]\ninput w: i8[24, 40]\n"
     "output y = matmul(cast(x, dtype=i32), cast(w, dtype=i32))\n"),
};

}  // namespace

TEST_CASE("products and sums touch what is there, whatever is left of the last tile or step") {
  for (const char* target : testTargets())
    for (const char* graph : kGraphs)
      for (int64_t n : {1, 2, 5, 8, 16, 20, 100}) {
        RunOptions options;
        options.target = target, options.quickC = true;
        checkBetweenGuards(graph, n, options);
      }
}
