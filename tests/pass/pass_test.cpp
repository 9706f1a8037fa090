// The pipeline loop: prints, stops, skips, verifies and times exactly what the options say.
#include <catch2/catch.hpp>
#include <string>

#include "ir/text.h"
#include "pass/pass.h"

using namespace svod;

namespace {

// Increments the stored constant, so that the number of passes that ran is visible in the graph.
UOp store(Graph& g, int64_t value) {
  UOp buffer = g.buffer(DType::I32, std::vector<UOp>{g.index(4)}, {0});
  UOp s = g.make(Op::Store, DType::Void, {buffer, g.constant(Scalar::ofInt(DType::I32, value))});
  return g.make(Op::Sink, DType::Void, {s});
}
int64_t valueOf(UOp root) { return root.src(0).src(1).constInt(); }

Result<UOp> increment(UOp root, PassContext& cx) { return store(cx.graph, valueOf(root) + 1); }
Result<UOp> keep(UOp root, PassContext&) { return root; }
Result<UOp> fails(UOp, PassContext&) { return fail(Diag::Unsupported, "no such thing", "use another"); }
Result<UOp> breaks(UOp root, PassContext& cx) { return cx.graph.make(Op::Sink, DType::Void, {root}); }
Result<UOp> addsData(UOp root, PassContext& cx) {
  cx.data.get<int>() += cx.data.get<const long>();
  return root;
}

constexpr Stage T = Stage::Tensor;
constexpr Pass kPasses[] = {
    {"first", "adds one", T, T, increment, true},
    {"second", "changes nothing", T, T, keep, true},
    {"third", "adds one", T, T, increment},
    {"fourth", "adds one", T, T, increment, true},
};

struct Run {
  Graph graph;
  PassLog log;
  Result<UOp> result = UOp();
};

Run run(std::span<const Pass> passes, const PassOptions& options) {
  Run r;
  PassContext cx{r.graph, r.log, options, "k1", Numerics::Strict, {}};
  r.result = runPipeline(passes, store(r.graph, 0), cx);
  return r;
}

}  // namespace

TEST_CASE("a pipeline runs every pass once") {
  Run r = run(kPasses, {});
  CHECK(valueOf(*r.result) == 3);
  CHECK(r.log.text.empty());
  CHECK(r.log.times.empty());
  CHECK_FALSE(r.log.stopped);
}

TEST_CASE("graphs are printed before and after the named passes, or when they change") {
  Run before = run(kPasses, {.printBefore = {"third"}});
  CHECK(before.log.text.find("; before third (k1)\n%0 = buffer 4 {0} : i32[4]\n%1 = store %0, 1:i32\n") == 0);
  CHECK(before.log.text.find("; ", 2) == std::string::npos);
  Run after = run(kPasses, {.printAfter = {"all"}});
  for (const Pass& pass : kPasses) CHECK(after.log.text.find("; after " + std::string(pass.name)) != std::string::npos);
  Run changed = run(kPasses, {.printChanged = true});
  CHECK(changed.log.text.find("; after first") != std::string::npos);
  CHECK(changed.log.text.find("; after second") == std::string::npos);
}

TEST_CASE("stop-after stops, says so and prints") {
  Run r = run(kPasses, {.stopAfter = "second"});
  CHECK(valueOf(*r.result) == 1);
  CHECK(r.log.stopped);
  CHECK(r.log.text.find("; after second (k1)") == 0);
}

TEST_CASE("bisect-limit skips optional passes only") {
  for (int64_t limit = 0; limit <= 3; ++limit) {
    PassOptions options;
    options.bisectLimit = limit;
    CHECK(valueOf(*run(kPasses, options).result) == (limit == 0 ? 1 : limit < 3 ? 2 : 3));
  }
}

TEST_CASE("verify-each names the pass that made an illegal graph") {
  constexpr Pass kBreaks[] = {kPasses[0], {"breaker", "nests a sink", T, T, breaks}};
  CHECK(run(kBreaks, {}).result.has_value());
  Run r = run(kBreaks, {.verifyEach = true});
  REQUIRE_FALSE(r.result.has_value());
  CHECK(r.result.error()->diag == Diag::Verify);
  CHECK(toText(r.result.error()).find("in pass breaker of k1") != std::string::npos);
  CHECK(r.log.lastGood.find("store %0, 1:i32") != std::string::npos);
}

TEST_CASE("an error names pass and job and leaves the graph to reproduce it") {
  constexpr Pass kFails[] = {kPasses[0], {"failing", "fails", T, T, fails}};
  Run r = run(kFails, {});
  REQUIRE_FALSE(r.result.has_value());
  CHECK(r.result.error()->diag == Diag::Unsupported);
  CHECK(r.result.error()->notes == std::vector<std::string>{"in pass failing of k1"});
  CHECK_FALSE(r.log.lastGood.empty());
}

TEST_CASE("a table whose stages do not chain is refused") {
  constexpr Pass kChain[] = {kPasses[0], {"late", "expects kernels", Stage::Kernel, Stage::Kernel, keep}};
  Run r = run(kChain, {});
  REQUIRE_FALSE(r.result.has_value());
  CHECK(r.result.error()->message.find("late") != std::string::npos);
}

TEST_CASE("times and rule tallies add up over jobs") {
  Run a = run(kPasses, {.timePasses = true}), b = run(kPasses, {.timePasses = true});
  REQUIRE(a.log.times.size() == 4);
  CHECK(a.log.times[0].pass == "first");
  CHECK(a.log.times[0].nodesBefore == 5);
  a.log.rules["x"] = {3, 1};
  b.log.rules["x"] = {4, 2};
  a.log.add(b.log);
  CHECK(a.log.times.size() == 8);
  CHECK(a.log.rules["x"].attempts == 7);
  CHECK(a.log.rules["x"].hits == 3);
  CHECK(toText(a.log.times).find("first") != std::string::npos);
  CHECK(toText(a.log.rules).find("x ") != std::string::npos);
}

TEST_CASE("passes reach shared objects by type") {
  constexpr Pass kData[] = {{"data", "adds", T, T, addsData}};
  Graph graph;
  PassLog log;
  PassOptions options;
  int sum = 1;
  const long step = 5;
  PassContext cx{graph, log, options, "k", Numerics::Strict, {}};
  cx.data.put(sum);
  cx.data.put(step);
  CHECK(runPipeline(kData, store(graph, 0), cx).has_value());
  CHECK(sum == 6);
  CHECK(cx.data.find<double>() == nullptr);
}
