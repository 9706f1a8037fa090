// A pass that changes the value is found by compiling with fewer passes, whichever pass of whichever pipeline it is.
#include "../../tools/svodc/guilty_pass.h"

#include <catch2/catch.hpp>

#include "../../tools/svodc/verify.h"
#include "common/graphs.h"
#include "common/model_text.h"
#include "driver/kernel_passes.h"
#include "e2e/harness.h"
#include "schedule/graph_passes.h"

using namespace svod;

namespace {

/// The graph with one added to all that is stored in memory others see.
UOp spoiled(Graph& g, UOp root) {
  return transform(g, root, [&](UOp n, std::span<const UOp> src) {
    const UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    if (n.op() != Op::Store || n.src(1).dtype() != DType::F32) return same;
    const UOp storage = storageOf(n.src(0));
    if (storage.op() != Op::Param && storage.op() != Op::Buffer) return same;
    if (storage.op() == Op::Buffer && storage.argAs<SlotArg>().space != Space::Global) return same;
    std::vector<UOp> sources(same.src().begin(), same.src().end());
    sources[1] = g.alu(Op::Add, {sources[1], g.constant(Scalar::of(DType::F32, 1))});
    return g.withSrc(same, sources);
  });
}

Result<UOp> spoil(const Pass& pass, UOp root, PassContext& cx) {
  auto* job = cx.data.find<GraphJob>();
  if (job == nullptr || pass.out == Stage::Tensor) return spoiled(cx.graph, root);
  for (Kernel& kernel : job->schedule->kernels) kernel.sink = spoiled(*kernel.graph, kernel.sink);
  return root;
}

std::string notesWithFaultIn(std::string_view name) {
  GraphMaker m;
  UOp x = m.input("x", {5, 7});
  m.output("y", m.g.alu(Op::Mul, {m.softmax(x, 5, 7), x}));
  CompileOptions options = compileOptions({});
  options.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
    return pass.name == name ? spoil(pass, root, cx) : root;
  };
  auto compiled = compile(m.model, options);
  if (!compiled) FAIL(toText(compiled.error()));
  auto verified = verifyPlan(m.model, **compiled, options.numerics);
  REQUIRE_FALSE(verified);
  CHECK(verified.error().diag == Diag::Mismatch);
  return toText(withGuiltyPass(std::move(verified.error()), m.model, options));
}

}  // namespace

TEST_CASE("a fault that is planted in a pass is named") {
  for (std::span<const Pass> passes : passTables(targets()[0]))
    for (const Pass& pass : passes) {
      const std::string notes = notesWithFaultIn(pass.name), name(pass.name);
      INFO(name << "\n" << notes);
      CHECK(notes.find("pass " + name + " does it") != notes.npos);
      CHECK((notes.find("wrong as well") == notes.npos) == pass.optional);
    }
}

TEST_CASE("without optional passes every value is right, and each can be left out alone") {
  GraphMaker m;
  UOp x = m.input("x", {5, 7}), w = m.input("w", {7, 6});
  m.output("y", m.matmul(m.softmax(x, 5, 7), w, 5, 6, 7));
  for (std::span<const Pass> passes : passTables(targets()[0]))
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
      return spoils && pass.name == "symbolic-late" ? spoil(pass, root, cx) : root;
    };
    auto compiled = compile(model, options);
    REQUIRE(compiled);
    CHECK(verifyPlan(model, **compiled, options.numerics).has_value() == !spoils);
  }
}
