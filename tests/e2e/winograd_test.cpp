// Convolutions in contract and fast numerics: plans give the values of the plain sum, which strict plans compute as the
// interpreter does.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

/// Weights drawn like inputs, so that no two taps are alike.
void drawWeights(Model& model) {
  uint64_t seed = 100;
  for (ModelPort& port : model.ports) {
    if (port.kind != PortKind::Weight) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.constInt());
    auto values = std::make_shared<HostTensor>(randomTensor(DType::F32, dims, ++seed, false));
    port.data = {values->data.data(), values->data.size(), values};
  }
}

struct Ran {
  HostTensor y;
  size_t weights, loops;  // those that were added counted
};

Ran run(const std::string& text, Numerics numerics, int64_t n) {
  Model model = modelOf(text);
  drawWeights(model);
  RunOptions options;
  options.numerics = numerics;
  auto result = runPlan(model, bindingsOf(model, n), options);
  if (!result) FAIL(toText(result.error()));
  auto of = [&](PortKind kind) { return std::ranges::count(model.ports, kind, &ModelPort::kind); };
  auto y = std::ranges::find(model.ports, PortKind::Output, &ModelPort::kind) - model.ports.begin();
  return {(*result)[static_cast<size_t>(y)], static_cast<size_t>(of(PortKind::Weight)), model.loops.size()};
}

/// Where free sizes are small, the second level cache decides whether rows of tiles are worth a loop.
constexpr size_t kAnyLoops = SIZE_MAX;

void checkNear(const HostTensor& got, const HostTensor& exact, double bound) {
  REQUIRE(got.dims == exact.dims);
  double largest = 0, error = 0;
  for (int64_t i = 0; i < exact.numel(); ++i) {
    largest = std::max(largest, std::abs(exact.at(i).asFloat()));
    error = std::max(error, std::abs(exact.at(i).asFloat() - got.at(i).asFloat()));
  }
  CHECK(error <= bound * largest);
}

/// Every variable is `n`.
void check(const std::string& text, size_t rewritten, size_t loops = 0, int64_t n = 1) {
  INFO(text << "n = " << n);
  const Ran exact = run(text, Numerics::Strict, n), fast = run(text, Numerics::Fast, n),
            near = run(text, Numerics::Contract, n);
  CHECK(fast.weights == exact.weights + rewritten);
  CHECK(near.weights <= fast.weights);  // which forms are worth it depends on the processor
  CHECK((loops == kAnyLoops || fast.loops == loops));
  checkNear(fast.y, exact.y, 5e-5);
  checkNear(near.y, exact.y, 5e-6);
}

}  // namespace

TEST_CASE("lanes, tiles and channels that do not divide") {
  check("input x: f32[1, 129, 24, 24]\nweight w: f32[131, 129, 3, 3] = 1\noutput y = conv2d(x, w, padding=1)\n", 1);
  check("input x: f32[3, 130, 23, 13]\nweight w: f32[128, 130, 3, 3] = 1\noutput y = conv2d(x, w)\n", 1);
  check("input x: f32[4, 256, 7, 7]\nweight w: f32[256, 256, 3, 3] = 1\noutput y = conv2d(x, w, padding=1)\n", 1);
}

TEST_CASE("what stands around a convolution") {
  check(
      "input x: f32[1, 128, 16, 16]\nweight w: f32[128, 128, 3, 3] = 1\nweight v: f32[128, 128, 3, 3] = 1\n"
      "weight b: f32[128] = 1\noutput y = relu(conv2d(relu(conv2d(x, w, b, padding=1)), v, padding=1) + x)\n",
      2);
  check(
      "input x: f32[1, 256, 20, 20]\nweight w: f32[256, 128, 3, 3] = 1\n"
      "output y = max_pool(conv2d(x, w, groups=2, padding=1), kernel=[2, 2])\n",
      1);
}

TEST_CASE("large tiles are computed some rows at a time") {
  const std::string head = "weight w: f32[64, 64, 3, 3] = 1\nweight b: f32[64] = 1\n";
  check("input x: f32[1, 64, 88, 88]\n" + head + "output y = relu(conv2d(x, w, b, padding=1) + x)\n", 1, 1);
  check("input x: f32[1, 64, 80, 81]\n" + head + "h = relu(conv2d(x, w, padding=1))\noutput y = conv2d(h, w, b)\n", 1,
        2);
}

TEST_CASE("a batch of any size") {
  for (int64_t n : {0, 1, 2, 3, 7}) {
    const std::string head = "var n in [0, 7]\n";
    check(head + "input x: f32[n, 65, 23, 13]\nweight w: f32[64, 65, 3, 3] = 1\noutput y = conv2d(x, w)\n", 1,
          kAnyLoops, n);
    check(head + "input x: f32[n, 64, 16, 16]\nweight w: f32[64, 64, 3, 3] = 1\nweight b: f32[64] = 1\n" +
              "output y = relu(conv2d(relu(conv2d(x, w, b, padding=1)), w, padding=1) + x)\n",
          1, kAnyLoops, n);
    check("var n in [0, 1]\ninput x: f32[n, 64, 88, 88]\nweight w: f32[64, 64, 3, 3] = 1\n" +
              std::string("output y = relu(conv2d(x, w, padding=1) + x)\n"),
          1, 1, std::min<int64_t>(n, 1));
  }
}

TEST_CASE("an image of any size") {
  const std::string head = "var n in [1, 24]\nweight w: f32[64, 64, 3, 3] = 1\nweight b: f32[64] = 1\n";
  for (int64_t n : {1, 2, 3, 7, 24}) {
    check(head + "input x: f32[1, 64, n, n+3]\noutput y = relu(conv2d(x, w, b, padding=1) + x)\n", 1, kAnyLoops, n);
    check(head +
              "input x: f32[1, 64, 4*n, 8]\noutput y = relu(conv2d(relu(conv2d(x, w, b, padding=1)), w, padding=1) + "
              "x)\n",
          1, kAnyLoops, n);
  }
}

TEST_CASE("a convolution in a loop") {
  check(
      "input x: f32[1, 64, 56, 56]\nweight w: f32[64, 64, 3, 3] = 0.1\ntemp h = x\n"
      "loop i < 2 {\n  assign h = tanh(conv2d(h, w, padding=1) * 0.01)\n}\noutput y = h\n",
      1, 1);
}

TEST_CASE("convolutions that stay as they are") {
  check("input x: f32[1, 64, 24, 24]\nweight w: f32[64, 64, 3, 3] = 1\noutput y = conv2d(x, w, stride=2)\n", 0);
}
