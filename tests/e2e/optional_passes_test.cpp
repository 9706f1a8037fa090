// Passes that may be left out: the values are right without each of them, and what --verify takes for a fault.
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "common/model_text.h"
#include "driver/kernel_passes.h"
#include "e2e/harness.h"
#include "faults/planted_fault.h"
#include "verify/verify.h"

using namespace svod;

TEST_CASE("without optional passes every value is right, and each can be left out alone") {
  GraphMaker m;
  UOp x = m.input("x", {5, 7}), w = m.input("w", {7, 6});
  m.output("y", m.matmul(m.softmax(x, 5, 7), w, 5, 6, 7));
  for (std::span<const Pass> passes : passTables(*targets()[0]))
    for (const Pass& pass : passes) {
      if (!pass.optional) continue;
      CompileOptions options = compileOptions({});
      options.passes.disabledPasses = {std::string(pass.name)};
      bool hasRun = false;
      options.passes.instrument = [&](const Pass& ran, UOp root, PassContext&) -> Result<UOp> {
        hasRun |= ran.name == pass.name;
        return root;
      };
      auto compiled = compile(m.model, options);
      INFO(pass.name);
      REQUIRE(compiled);
      CHECK(verifyPlan(m.model, **compiled, options.numerics));
      CHECK_FALSE(hasRun);
    }
}

TEST_CASE("roundings that every step doubles are no fault, and an error of 1 is one") {
  std::string text = "input x: f32[50]\ny0 = x\n";  // 1.9 y y - 1 may be rounded once or twice at its end
  for (int i = 1; i <= 14; ++i) {
    const std::string y = "y" + std::to_string(i - 1);
    text += (i == 14 ? "output y" : "y") + std::to_string(i) + " = " + y + " * " + y + " * 1.9 - 1\n";
  }
  Model model = modelOf(text);
  for (bool spoils : {false, true}) {
    CompileOptions options = compileOptions({});
    options.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
      return spoils && pass.name == "symbolic-late" ? withFault(pass, root, cx) : root;
    };
    auto compiled = compile(model, options);
    REQUIRE(compiled);
    CHECK(verifyPlan(model, **compiled, options.numerics).has_value() == !spoils);
  }
}
