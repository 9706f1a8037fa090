// What becomes of kernels on the way from a graph file to a plan.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

std::unique_ptr<Compilation> compiled(const std::string& text, int optLevel) {
  Model model = modelOf(text);
  RunOptions options;
  options.optLevel = optLevel;
  auto compilation = compile(model, compileOptions(options));
  if (!compilation) FAIL(toText(compilation.error()));
  return std::move(*compilation);
}

size_t loopsOf(const CompiledKernel& kernel) {
  return static_cast<size_t>(std::ranges::count_if(kernel.linear.ops, [](UOp n) { return n.op() == Op::Range; }));
}

}  // namespace

TEST_CASE("kernels get only the variables they use") {
  auto c = compiled(R"(var rows in [1, 9]
var columns in [1, 9]
input x: f32[rows, 4]
input y: f32[4, columns]
input z: f32[4, 4]
output a = sum(x, axes=1)
output b = exp(y)
output c = z * 2
output d = matmul(x, y)
)",
                    0);
  std::map<std::string, std::vector<std::string>> values;  // by output
  for (const Step& step : c->plan.steps) {
    const auto& launch = std::get<Launch>(step.action);
    values[c->plan.buffers[launch.buffers[0]].name] = c->plan.kernels[launch.kernel].values;
  }
  using Names = std::vector<std::string>;
  CHECK(values["a"] == Names{"rows"});
  CHECK(values["b"] == Names{"columns"});
  CHECK(values["c"].empty());
  CHECK(values["d"] == Names{"columns", "rows"});
}

TEST_CASE("reductions over one axis share a loop") {
  for (const char* text :
       {"input x: f32[64, 100]\noutput y = mean(x, axes=1) + reduce_max(x, axes=1) * reduce_min(x, axes=1)\n",
        "input x: f32[64, 100]\ninput z: f32[64, 100]\noutput y = sum(x, axes=1) / sum(z * z, axes=1)\n"}) {
    INFO(text);
    auto c = compiled(text, 0);
    REQUIRE(c->kernels.size() == 1);
    CHECK(loopsOf(c->kernels[0]) == 2);
  }
  // The second needs the first, or has another extent.
  for (const char* text :
       {"input x: f32[64, 100]\noutput y = sum(x - reduce_max(x, axes=1, keepdims=true), axes=1)\n",
        "input x: f32[64, 100]\ninput z: f32[64, 50]\noutput y = sum(x, axes=1) + sum(z, axes=1)\n"}) {
    INFO(text);
    auto c = compiled(text, 0);
    REQUIRE(c->kernels.size() == 1);
    CHECK(loopsOf(c->kernels[0]) == 3);
  }
}
