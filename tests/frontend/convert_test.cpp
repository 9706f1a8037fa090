#include <catch2/catch.hpp>

#include "frontend/frontend.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace svod;

TEST_CASE("a small graph builds, verifies and converts") {
  auto file = parseGraph(R"(svod 1
# hello
var n in [1, 64]

input x: f32[n, 784]
weight w: f32[784, 10] = 0.5
state s: f32[4] = zeros  # kept
h = matmul(x, w) * 2 + 1
y = sum(exp(h - reduce_max(h, axes=-1, keepdims=true)), axes=[1])
before = s * 2
assign s = s + 1.0
output y
output z = relu(h)
output before
output now = s
output cat = concat(x, x, axis=1)
output sl = slice(x, starts=[0, 1], ends=[1, -1], steps=[1, 3])
output am = argmax(h)
output n8 = n
)",
                         "a.svod");
  if (!file) FAIL(toText(file.error()));
  auto model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  auto ok = verify(model->sink, Stage::Tensor);
  if (!ok) FAIL(toText(ok.error()));
  std::string text = writeGraphText(*file), json = writeGraphJson(*file);
  auto back = parseGraph(json, "a.json");
  if (!back) FAIL(toText(back.error()));
  CHECK(writeGraphText(*back) == text);
  CHECK(writeGraphJson(*back) == json);
}
