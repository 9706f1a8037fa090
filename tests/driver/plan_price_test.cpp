#include <catch2/catch.hpp>

#include <algorithm>

#include "common/model_text.h"
#include "driver/compile.h"
#include "driver/plan_price.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "toolchain/linker.h"
#include "toolchain/temp_dir.h"

using namespace svod;

namespace {

constexpr const char* kGraph =
    "input x: f32[40, 30]\nt = exp(x) * 2\noutput a = sum(t, axes=0)\noutput b = sum(t, axes=1)\noutput s = "
    "softmax(x)\n";

struct Planned {
  TempDir folder = TempDir::make("/tmp").value();
  Linker linker{folder.file("")};
  CompileOptions options;
  Model model;
  std::unique_ptr<Compilation> compilation;

  explicit Planned(const std::string& text) : model(modelOf(text)) {
    options.machine = makeCpuTarget("", "native").value();
    options.linker = &linker;
    auto compiled = compile(model, options);
    if (!compiled) FAIL(toText(compiled.error()));
    compilation = std::move(*compiled);
  }
  PlanPrice price(KernelPrices& known, const std::map<std::string, std::string, std::less<>>& asked = {}) {
    DecisionRequests requests;
    requests.values = asked;
    Result<PlanPrice> price = priceOf(model, compilation->folded, options, requests, known);
    if (!price) FAIL(toText(price.error()));
    return *price;
  }
};

}  // namespace

TEST_CASE("The hash of a graph names what it computes and how it calls its values") {
  const std::string text = kGraph;
  const std::string hash = graphHash(modelOf(text));
  CHECK(hash.size() == 32);
  CHECK(graphHash(modelOf(text)) == hash);
  CHECK(graphHash(modelOf("input x: f32[41, 30]" + text.substr(text.find('\n')))) != hash);
  std::string renamed = text;
  for (size_t at; (at = renamed.find("(t,")) != renamed.npos;) renamed.replace(at, 3, "(u,");
  renamed.replace(renamed.find("t = exp"), 1, "u");
  CHECK(graphHash(modelOf(renamed)) != hash);
  Planned planned(text);
  CHECK(graphHash(planned.model) == hash);  // a compile, which adds constants, changes nothing
}

TEST_CASE("The price of a plan is that of its kernels, and other decisions have one of their own") {
  Planned planned(kGraph);
  KernelPrices known;
  const PlanPrice usual = planned.price(known);
  double sum = 0;
  for (const CompiledKernel& kernel : planned.compilation->kernels) {
    CHECK(known.at(tuningHash(kernel)) == predictedTime(kernel, planned.options));
    CHECK(usual.kernels.at(tuningHash(kernel)) > 0);
    sum += usual.kernels.at(tuningHash(kernel));
  }
  CHECK(usual.nanoseconds == Approx(sum));
  CHECK(usual.decisions == planned.compilation->schedule.decisions);
  // The same again: nothing is priced anew.
  KernelPrices again = known;
  CHECK(planned.price(again).plan == usual.plan);
  CHECK(again == known);
  size_t others = 0;
  for (const Decision& d : usual.decisions)
    for (const Alternative& other : d.alternatives)
      if (other.value != d.value()) {
        const PlanPrice price = planned.price(known, {{d.name, other.value}});
        const auto found = std::ranges::find(price.decisions, d.name, &Decision::name);
        REQUIRE(found != price.decisions.end());
        CHECK(found->value() == other.value);
        CHECK(price.nanoseconds > 0);
        others += price.plan != usual.plan;
      }
  CHECK(others > 0);
  DecisionRequests wrong;
  wrong.values["keep:nobody"] = "keep";
  CHECK(!priceOf(planned.model, planned.compilation->folded, planned.options, wrong, known));
}

TEST_CASE("Decisions of a log are those of the schedule, if the graph has them, and what is asked for wins") {
  Planned planned(kGraph);
  const auto scheduled = [&](const TuningLog& log, const DecisionRequests& asked) {
    CompileOptions options = planned.options;
    options.tuning = &log, options.compiler = "this", options.decisions = asked;
    PassLog passes;
    TunedDecisions tuned;
    auto schedule = scheduleTuned(planned.model, planned.compilation->folded, options, passes, tuned);
    REQUIRE(schedule);
    return (*schedule)->decisions;
  };
  const Decision& usual = planned.compilation->schedule.decisions[0];
  REQUIRE(usual.alternatives.size() > 1);
  const std::string other = usual.alternatives[usual.chosen == 0 ? 1 : 0].value;
  PlanRecord r;
  r.graph = graphHash(planned.model), r.target = tuningTarget(planned.options), r.machine = "here", r.compiler = "this";
  r.outcome = Outcome::Wins, r.ratio = 0.5, r.decisions = {usual.name + "=" + other};
  TuningLog log;
  log.plans = {r};
  CHECK(scheduled(log, {})[0].value() == other);
  CHECK(scheduled(log, {})[0].reason.starts_with("as in the tuning log"));
  DecisionRequests asked;
  asked.values[usual.name] = usual.value();
  CHECK(scheduled(log, asked)[0].value() == usual.value());
  log.plans[0].decisions = {"keep:nobody=keep"};
  CHECK(scheduled(log, {})[0].value() == usual.value());
  log.plans[0] = r, log.plans[0].target = "cpu of another kind";
  CHECK(scheduled(log, {})[0].value() == usual.value());
}
