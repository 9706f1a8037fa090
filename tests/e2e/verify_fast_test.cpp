// What --verify takes for a fault in fast and contract numerics, and what it does not.
#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "common/random_graph.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"
#include "faults/planted_fault.h"
#include "verify/verify.h"

using namespace svod;

namespace {

Result<std::vector<SizeChoice>> verified(Model& model, bool spoils, Numerics numerics = Numerics::Fast,
                                         const DecisionRequests& decisions = {}) {
  CompileOptions options = compileOptions({});
  options.numerics = numerics, options.decisions = decisions;
  options.passes.instrument = [=](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
    return spoils && pass.name == "symbolic-late" ? withFault(pass, root, cx) : root;
  };
  SVOD_TRY(const auto compiled, compile(model, options));
  return verifyPlan(model, *compiled, options.numerics);
}

RandomOptions optionsOf(uint64_t seed) {
  RandomOptions drawn;
  drawn.contract = seed % 4 == 1;
  drawn.transcendentals = seed % 2 == 0;
  drawn.edges = seed % 5 == 0;
  drawn.loops = seed % 7 == 0;
  drawn.steps = static_cast<int>(4 + seed % 12);
  if (seed % 3 == 0) drawn.dtypes = {DType::F32};
  return drawn;
}

std::string falseAlarm(uint64_t seed, Numerics numerics) {
  Model model = randomModel(seed, optionsOf(seed));
  const auto choices = verified(model, false, numerics);
  return choices || choices.error()->diag == Diag::Unsupported ? "" : toText(choices.error());
}

int64_t openElements(const std::string& text) {
  Model model = modelOf(text);
  const auto choices = verified(model, false);
  UNSCOPED_INFO(text);
  if (!choices) FAIL(toText(choices.error()));
  int64_t open = 0;
  for (const SizeChoice& choice : *choices) open += choice.open;
  return open;
}

std::string convolution(const std::string& data, int channels = 8, int size = 30) {
  const std::string c = std::to_string(channels), s = std::to_string(size);
  std::string taps;
  for (int i = 0; i < channels * channels * 9; ++i) taps += (i > 0 ? ", " : "") + std::to_string(i * 37 % 19 - 9);
  return "input x: f32[1, " + c + ", " + s + ", " + s + "]\nweight w: f32[" + std::to_string(channels * channels * 9) +
         "] = [" + taps + "]\noutput y = conv2d(" + data + ", reshape(w, shape=[" + c + ", " + c +
         ", 3, 3]), padding=1)\n";
}

}  // namespace

TEST_CASE("right plans in fast numerics are no fault", "[random]") {
  forSeeds(400, {1317, 1427, 1582, 1591, 1674, 1764, 2190, 2207, 2277, 2406},
           [](uint64_t seed) { return falseAlarm(seed, Numerics::Fast); });
}

TEST_CASE("right plans in contract numerics are no fault", "[random]") {
  forSeeds(200, {1036, 1427}, [](uint64_t seed) { return falseAlarm(seed, Numerics::Contract); });
}

TEST_CASE("what rules of fast numerics change stays within the bounds") {
  for (const char* y :
       {"(x + 100000000) - 100000000", "(x - 100000000) + 100000001", "sin(x * 2000000)", "tan(x * 30000)",
        "floor(x * 64 / 49)", "cast(x * 64 / 49, dtype=i32)", "(x * 1e-30) * 1e-30 * 1e35 * 1e25"})
    CHECK(openElements(std::string("input x: f32[640]\noutput y = ") + y + "\n") == 0);
  CHECK(openElements(convolution("x")) == 0);
  CHECK(openElements(convolution("where(x > 0.98, x * 1e7, x)")) == 0);
}

TEST_CASE("transformed tiles of convolutions stay within the bounds, and an error of 1 in them is a fault") {
  for (const auto& [numerics, form] : {std::pair(Numerics::Contract, "f2"), std::pair(Numerics::Fast, "f4")})
    for (const char* data : {"x", "where(x > 0.98, x * 1e7, x)"}) {
      const std::string text = convolution(data, 32, 9);
      const DecisionRequests decisions{.values = {{"conv:y.reduce", form}}};
      Model model = modelOf(text), spoilt = modelOf(text);
      const size_t before = model.ports.size();
      const auto choices = verified(model, false, numerics, decisions);
      if (!choices) FAIL(toText(choices.error()));
      for (const SizeChoice& choice : *choices) CHECK(choice.open == 0);
      CHECK(model.ports.size() > before);  // transformed weights
      CHECK((data != std::string("x") || !verified(spoilt, true, numerics, decisions)));
    }
}

TEST_CASE("elements that fast numerics leave open are counted") {
  for (const char* y : {"isnan(log(x))", "x / x", "sqrt(x) - sqrt(x)", "1 / sqrt(relu(x))", "(x + x) * 1e38 * 2 / 4",
                        "bitcast(0 - x, dtype=i32)", "cos(x * 1e9)"})
    CHECK(openElements(std::string("input x: f32[640]\noutput y = ") + y + "\n") > 0);
}

TEST_CASE("an error of 1 in fast and contract numerics is a fault", "[random]") {
  const auto numerics = GENERATE(Numerics::Fast, Numerics::Contract);
  int found = 0, planted = 0;
  for (uint64_t seed = 3; seed < 300; seed += 3) {
    if (!isInShard(seed)) continue;
    RandomOptions drawn = optionsOf(seed);
    drawn.contract = true;
    Model model = randomModel(seed, drawn);
    const auto choices = verified(model, true, numerics);
    ++planted;
    found += choices ? 0 : 1;
  }
  CHECK(found * 10 >= planted * 8);
  for (const std::string& text :
       {std::string("input x: f32[64, 64]\noutput y = softmax(matmul(x, x) / 7)\n"),
        std::string("input x: f32[64]\noutput y = where(isnan(log(x)), 5, x)\n"), convolution("x")}) {
    Model model = modelOf(text);
    INFO(text);
    CHECK_FALSE(verified(model, true, numerics));
  }
}
