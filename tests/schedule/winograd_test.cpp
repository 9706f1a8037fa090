// Which convolutions are computed with fewer multiplications, and that they stay convolutions.
#include "tensor/winograd.h"

#include <catch2/catch.hpp>
#include <memory>

#include "common/model_text.h"
#include "common/random_graph.h"
#include "interp/interp.h"
#include "ir/evaluate.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

WinogradPlan large(const Convolution&, UOp, UOp) { return {&winogradForms()[0]}; }
WinogradPlan small(const Convolution&, UOp, UOp) { return {&winogradForms()[1]}; }
WinogradPlan largeByRow(const Convolution&, UOp, UOp) { return {&winogradForms()[0], 1}; }
WinogradPlan smallByTwo(const Convolution&, UOp, UOp) { return {&winogradForms()[1], 2}; }
const WinogradChoice kChoices[] = {large, small, largeByRow, smallByTwo};

bool isRewritten(const std::string& text, const WinogradChoice& choose = large) {
  Model model = modelOf(text);
  return useWinograd(model, model.sink, choose).sink != model.sink;
}

std::string conv(const std::string& x, const std::string& w, const std::string& attributes) {
  return "input x: f32" + x + "\nweight w: f32" + w + " = 1\noutput y = conv2d(x, w, " + attributes + ")\n";
}

/// Weights that are all different, and inputs; every variable is `n`.
ModelBindings randomValues(Model& model, int64_t n) {
  ModelBindings bindings;
  for (UOp v : model.variables) bindings.variables[std::string(v.argAs<VarArg>().name)] = n;
  for (ModelPort& port : model.ports) {
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape())
      dims.push_back(
          evaluate(d, [&](UOp leaf) -> std::optional<Scalar> { return Scalar::ofInt(leaf.dtype(), n); })->asInt());
    auto values = std::make_shared<HostTensor>(randomTensor(DType::F32, dims, bindings.ports.size() + 1, false));
    if (port.kind == PortKind::Weight) port.data = {values->data.data(), values->data.size(), values};
    bindings.ports.push_back(port.kind == PortKind::Input ? *values : HostTensor{});
  }
  return bindings;
}

double largest(const HostTensor& t) {
  double most = 0;
  for (int64_t i = 0; i < t.numel(); ++i) most = std::max(most, std::abs(t.at(i).asFloat()));
  return most;
}

/// The largest difference of the result, relative to its largest element.
double errorOf(const std::string& text, const WinogradChoice& choose, int64_t n = 1) {
  Model model = modelOf(text);
  ModelBindings bindings = randomValues(model, n);
  auto expected = interpret(model, bindings);
  REQUIRE(expected);
  UOp sink = useWinograd(model, model.sink, choose).sink;
  REQUIRE(sink != model.sink);
  model.sink = sink;
  auto actual = interpret(model, bindings);
  if (!actual) FAIL(toText(actual.error()));
  const size_t y =
      static_cast<size_t>(std::ranges::find(model.ports, PortKind::Output, &ModelPort::kind) - model.ports.begin());
  HostTensor difference = (*expected)[y];
  for (int64_t i = 0; i < difference.numel(); ++i)
    difference.set(i, Scalar::ofFloat(DType::F32, difference.at(i).asFloat() - (*actual)[y].at(i).asFloat()));
  return largest(difference) / largest((*expected)[y]);
}

constexpr double kTolerance = 2e-5;

}  // namespace

TEST_CASE("convolutions of 3x3 taps at every place are rewritten, however they are written") {
  CHECK(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 3, 3]", "padding=1")));
  CHECK(isRewritten(conv("[2, 4, 9, 7]", "[6, 2, 3, 3]", "groups=2")));
  CHECK(
      isRewritten("input x: f32[1, 4, 9, 9]\nweight w: f32[5, 4, 3, 3] = 1\n"
                  "output y = relu(conv2d(pad(x, before=[0, 0, 2, 1], after=[0, 0, 0, 3]), w))\n"));
  CHECK(
      isRewritten("input x: f32[1, 9, 9, 4]\nweight w: f32[3, 3, 4, 5] = 1\n"  // channels last
                  "output y = conv2d(permute(x, order=[0, 3, 1, 2]), permute(w, order=[3, 2, 0, 1]), padding=1)\n"));
}

TEST_CASE("the batch may have any size") {
  const std::string head = "var n in [0, 9]\ninput x: f32[n, 4, 9, 7]\nweight w: f32[4, 4, 3, 3] = 1\n";
  for (const char* rest :
       {"output y = conv2d(x, w, padding=1)\n", "weight v: f32[6, 2, 3, 3] = 1\noutput y = conv2d(x, v, groups=2)\n",
        "weight b: f32[4] = 1\noutput y = relu(conv2d(x, w, b, padding=1) + x)\n",
        "z = pad(x, before=[0, 0, 0, 0], after=[0, 0, 1, 3])\n"
        "output y = relu(conv2d(relu(conv2d(z, w, padding=1)), w)) * 2\n",
        "z = permute(reshape(x, shape=[n, 9, 7, 4]), order=[0, 3, 1, 2])\n"
        "output y = permute(conv2d(z, w, padding=1), order=[0, 2, 3, 1])\n",
        "z = reshape(x, shape=[2, n, 2, 9, 7])\nweight v: f32[3, 2, 3, 3] = 1\n"
        "output y = conv2d(reshape(z, shape=[2*n, 2, 9, 7]), v)\n"}) {
    INFO(rest);
    for (const WinogradChoice& form : kChoices) {
      CHECK(isRewritten(head + rest, form));
      for (int64_t n : {1, 2, 7}) CHECK(errorOf(head + rest, form, n) < kTolerance);
    }
  }
}

TEST_CASE("heights and widths may have any size") {
  const std::string head = "var n in [1, 40]\nweight w: f32[4, 3, 3, 3] = 1\nweight v: f32[4, 4, 3, 3] = 1\n";
  for (const char* rest :
       {"input x: f32[2, 3, n, 9]\noutput y = conv2d(x, w, padding=1)\n",
        "input x: f32[n, 3, 2*n+2, n+2]\noutput y = relu(conv2d(x, w))\n",
        "input x: f32[1, 3, 4*n, 8]\noutput y = relu(conv2d(x, w, padding=1) + slice(x, starts=[0], ends=[1], "
        "axes=[1]))\n",
        "input x: f32[1, 3, 4*n, 4*n]\n"
        "output y = conv2d(relu(conv2d(pad(x, before=[0, 0, 2, 1], after=[0, 0, 0, 3]), w)), v, padding=1)\n"}) {
    INFO(rest);
    for (const WinogradChoice& form : kChoices) {
      CHECK(isRewritten(head + rest, form));
      for (int64_t n : {1, 2, 3, 7}) CHECK(errorOf(head + rest, form, n) < kTolerance);
    }
  }
  // What lies outside of the data is no zero.
  CHECK_FALSE(isRewritten(head +
                          "input x: f32[1, 3, n, 9]\n"
                          "output y = conv2d(slice(x, starts=[1], ends=[9], axes=[3]), w, dilation=2, padding=2)\n"));
}

TEST_CASE("a choice for a free batch is that for its likely size") {
  const auto launches = [](const std::string& batch) {
    Model model = modelOf(batch + "weight w: f32[64, 64, 3, 3] = 1\noutput y = conv2d(x, w, padding=1)\n");
    auto schedule = makeSchedule(model, {Numerics::Fast});
    REQUIRE(schedule);
    return std::pair(schedule->items.size(), schedule->loops.size());
  };
  for (const char* likely : {"1", "8"}) {
    const std::string size = likely, image = ", 64, 56, 56]\n";
    CHECK(launches("input x: f32[" + size + image) == launches("var n in [0, " + size + "]\ninput x: f32[n" + image));
  }
}

TEST_CASE("everything else is left alone") {
  CHECK_FALSE(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 3, 3]", "stride=2")));
  CHECK_FALSE(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 3, 3]", "dilation=2")));
  CHECK_FALSE(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 5, 5]", "padding=2")));
  CHECK_FALSE(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 1, 1]", "padding=0")));
  CHECK_FALSE(isRewritten(conv("[1, 4, 9, 9]", "[5, 4, 3, 1]", "padding=0")));
  CHECK_FALSE(isRewritten("input x: f32[1, 4, 9, 9]\ninput w: f32[5, 4, 3, 3]\noutput y = conv2d(x, w)\n"));
  CHECK_FALSE(isRewritten("input x: f64[1, 4, 9, 9]\nweight w: f64[5, 4, 3, 3] = 1\noutput y = conv2d(x, w)\n"));
  CHECK_FALSE(isRewritten("input x: f32[1, 4, 9]\nweight w: f32[5, 4, 3] = 1\noutput y = conv1d(x, w)\n"));
  CHECK_FALSE(isRewritten("input a: f32[8, 9]\nweight b: f32[9, 8] = 1\noutput y = matmul(a, b)\n"));
}

TEST_CASE("not in strict numerics, and only where it is less work") {
  auto launches = [](const std::string& text, Numerics numerics) {
    Model model = modelOf(text);
    auto schedule = makeSchedule(model, {numerics});
    REQUIRE(schedule);
    return schedule->items.size();
  };
  const std::string wide = conv("[1, 128, 16, 16]", "[128, 128, 3, 3]", "padding=1");
  CHECK(launches(wide, Numerics::Strict) == 1);
  CHECK(launches(wide, Numerics::Contract) > 1);
  CHECK(launches(wide, Numerics::Fast) == 3);
  CHECK(launches(conv("[1, 128, 18, 18]", "[128, 128, 3, 3]", "padding=1"), Numerics::Fast) ==
        4);  // the last tiles are cut
  // What follows is part of the last transform, other than a sum, which has a kernel of its own.
  const std::string head = "input x: f32[1, 128, 16, 16]\nweight w: f32[128, 128, 3, 3] = 1\nweight b: f32[128] = 1\n";
  CHECK(launches(head + "output y = relu(conv2d(x, w, b, padding=1) + x)\n", Numerics::Fast) == 3);
  CHECK(launches(head + "weight v: f32[128, 128, 1, 1] = 1\noutput y = conv2d(x, w, padding=1) + conv2d(x, v)\n",
                 Numerics::Fast) == 4);
  CHECK(launches(head + "z = conv2d(x, w, padding=1)\noutput y = relu(z)\noutput v = z * z\n", Numerics::Fast) == 4);
  CHECK(launches(conv("[1, 8, 32, 32]", "[64, 8, 3, 3]", "padding=1"), Numerics::Fast) == 1);
  CHECK(launches(conv("[1, 64, 32, 32]", "[64, 1, 3, 3]", "padding=1, groups=64"), Numerics::Fast) == 1);
  CHECK(launches(conv("[1, 512, 2, 2]", "[512, 512, 3, 3]", "padding=1"), Numerics::Fast) == 1);
}

TEST_CASE("scheduling a model again adds nothing") {
  Model model = modelOf(
      "input x: f32[1, 64, 56, 56]\nweight w: f32[64, 64, 3, 3] = 1\n"
      "output y = conv2d(relu(conv2d(x, w, padding=1)), w, padding=1)\n");
  const size_t before = model.ports.size();
  for (int i = 0; i < 2; ++i) {
    auto schedule = makeSchedule(model, {Numerics::Fast});
    REQUIRE(schedule);
    CHECK(schedule->loops.size() == 2);       // some rows of tiles at a time
    CHECK(model.ports.size() == before + 3);  // transformed weights, results of both
    CHECK(model.loops.size() == 2);
  }
}

TEST_CASE("every extent and padding gives the values of the convolution") {
  for (const WinogradChoice& form : kChoices)
    for (int size = 2; size <= 13; ++size)
      for (int padding : {0, 1}) {
        if (size + 2 * padding < 4) continue;
        const std::string text =
            "input x: f32[2, 2, " + std::to_string(size) + ", " + std::to_string(15 - size) +
            "]\nweight w: f32[3, 2, 3, 3] = 1\noutput y = conv2d(x, w, padding=" + std::to_string(padding) + ")\n";
        if (15 - size + 2 * padding < 4) continue;
        INFO(text);
        CHECK(errorOf(text, form) < kTolerance);
      }
}

TEST_CASE("groups, layouts, unequal padding and what is around a convolution") {
  for (const char* text :
       {"input x: f32[2, 6, 9, 7]\nweight w: f32[4, 3, 3, 3] = 1\noutput y = conv2d(x, w, padding=1, groups=2)\n",
        "input x: f32[1, 4, 9, 9]\nweight w: f32[5, 4, 3, 3] = 1\nweight b: f32[5] = 1\n"
        "output y = relu(conv2d(pad(x, before=[0, 0, 2, 1], after=[0, 0, 0, 3]), w, b))\n",
        "input x: f32[1, 9, 9, 4]\nweight w: f32[3, 3, 4, 5] = 1\n"
        "output y = permute(conv2d(permute(x, order=[0, 3, 1, 2]), permute(w, order=[3, 2, 0, 1]), padding=1),\n"
        "                   order=[0, 2, 3, 1])\n",
        "input x: f32[1, 4, 9, 9]\nweight w: f32[5, 4, 3, 3] = 1\n"
        "output y = conv2d(slice(x, starts=[1, 2], ends=[8, 9], axes=[2, 3]), flip(w, axes=[2, 3]))\n",
        "input x: f32[1, 4, 8, 8]\nweight w: f32[4, 4, 3, 3] = 1\nweight v: f32[4, 4, 3, 3] = 1\n"
        "output y = conv2d(relu(conv2d(x, w, padding=1)), v, padding=1) + x\n",
        "input x: f32[1, 4, 8, 8]\nweight w: f32[4, 4, 3, 3] = 1\nweight v: f32[4, 4, 3, 3] = 1\n"
        "z = conv2d(x, w, padding=1)\noutput y = z * z + conv2d(x, v, padding=1) * sum(z, axes=1, keepdims=true)\n"}) {
    INFO(text);
    for (const WinogradChoice& form : kChoices) CHECK(errorOf(text, form) < kTolerance);
  }
}
