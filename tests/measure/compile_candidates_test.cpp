// Candidates of a real kernel to machine code: those that cannot be compiled cost themselves.
#include <catch2/catch.hpp>
#include <set>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "choose/choose.h"
#include "compiled_kernel.h"
#include "driver/kernel_batch.h"
#include "ir/text.h"
#include "measure/code_store.h"
#include "measure/cpu_measure.h"

using namespace svod;

TEST_CASE("A batch is one library, and lists with one code are compiled once") {
  CompiledGraph bench(kProduct);
  const auto all = bench.of({"", "vector(n1,8)", "vector(n1,8) upcast(n0,3)", "upcast(n0,3) vector(n1,8)"});
  for (const CompiledCandidate& c : all) {
    CHECK(c.verdict.outcome == Outcome::Timed);
    CHECK(c.code.library == all[0].code.library);
  }
  CHECK(all[2].code.hash == all[3].code.hash);
  CHECK(all[2].code.function == all[3].code.function);
  CHECK(all[0].code.hash != all[1].code.hash);
  CHECK(all[0].code.function != all[1].code.function);
  const KnownCode known = {{all[1].code.hash, all[1].code}};
  const auto again = bench.of({"vector(n1,8)", "vector(n1,16)"}, {}, known);
  CHECK(again[0].code.library == all[1].code.library);
  CHECK(again[1].code.library != all[1].code.library);
}

TEST_CASE("Several processes compile parts of a batch, and one that ends costs its own part nothing else") {
  CompiledGraph bench(kProduct);
  std::vector<std::string> lists;
  for (int copies : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    lists.push_back("upcast(n0," + std::to_string(copies) + ")");
  lists[0] = "", lists[11] = "upcast(n0,11)";  // as the one before, which another process compiles
  bench.options.jobs = 3;
  bench.options.passes.instrument = [](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
    if (pass.name == "expand" && cx.job == "candidate_4") std::abort();
    return root;
  };
  const auto all = bench.of(lists);
  std::set<std::string> libraries;
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].verdict.outcome == (i == 4 ? Outcome::CompileFailed : Outcome::Timed));
    if (i != 4) libraries.insert(all[i].code.library);
  }
  CHECK(libraries.size() == 3);
  CHECK(all[10].code.hash == all[11].code.hash);
  CHECK(all[10].code.library != all[11].code.library);
  bench.options.jobs = 1;
  const auto alone = bench.of(lists);
  for (size_t i = 0; i < all.size(); ++i) CHECK(alone[i].code.hash == all[i].code.hash);
}

TEST_CASE("Lists that do not apply, or are too large, cost themselves") {
  CompiledGraph bench(kProduct);
  CompileLimits limits;
  limits.mostInstructions = 400;
  const auto all = bench.of({"vector(n1,16)", "vector(n9,16)", "upcast(n0,33) upcast(n1,12)", "upcast(n0,2)"}, limits);
  CHECK(all[0].verdict.outcome == Outcome::Timed);
  CHECK(all[1].verdict.outcome == Outcome::CompileFailed);
  CHECK(all[1].verdict.reason.find("n9") != std::string::npos);
  CHECK(all[2].verdict.outcome == Outcome::TooLarge);
  CHECK(all[2].verdict.reason.find("may have 400: ") != std::string::npos);
  const std::string& reason = all[2].verdict.reason;
  const size_t at = reason.find("400: ") + 5, next = reason.find(", ", at) + 2;
  CHECK(std::stoi(reason.substr(at)) >= std::stoi(reason.substr(next)));  // the most frequent ones first
  CHECK((reason.find(" mul") != reason.npos || reason.find(" mulacc") != reason.npos));
  CHECK(std::ranges::count(reason.substr(at), ',') <= 7);
  CHECK(all[3].verdict.outcome == Outcome::Timed);
}

TEST_CASE("A candidate that halts, crashes or starves the compiler is given up, and the others are compiled") {
  CompiledGraph bench(kProduct);
  const struct {
    void (*plant)();
    std::string reason;
  } planted[] = {{[] { ::pause(); }, "took more than 3 s"},
                 {[] { std::abort(); }, "ended by a signal"},
                 {[] { throw std::bad_alloc(); }, "ran out of memory"}};
  for (const auto& each : planted) {
    INFO(each.reason);
    bench.options.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
      if (pass.name == "expand" && cx.job == "candidate_1") each.plant();
      return root;
    };
    const auto all = bench.of({"vector(n1,16)", "vector(n1,8)", "upcast(n0,2)"}, {3, uint64_t{4} << 30});
    CHECK(all[1].verdict.outcome == Outcome::CompileFailed);
    CHECK(all[1].verdict.reason.find(each.reason) != std::string::npos);
    CHECK(all[0].verdict.outcome == Outcome::Timed);
    CHECK(all[2].verdict.outcome == Outcome::Timed);
  }
}

TEST_CASE("Where no library can be written none was tried, and all say why") {
  CompiledGraph bench(kProduct);
  const std::vector<std::vector<OptOp>> lists = {
      {}, parseOpts("vector(n1,8)").value(), parseOpts("upcast(n0,2)").value()};
  for (const CompiledCandidate& c :
       compileCandidates(*bench.kernel, lists, bench.options, {}, {}, bench.folder / "none/here-")) {
    CHECK(c.verdict.outcome == Outcome::Untried);
    CHECK(c.verdict.reason.find("none/here-") != std::string::npos);
  }
  CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "none", CpuMeasure::Clock::time_point::max());
  const Status begun = measure.begin({{}, "", "-O1", 0});
  REQUIRE_FALSE(begun);
  CHECK(begun.error()->diag == Diag::Io);
}

TEST_CASE("Variables are timed at their likely values, or where it is asked for") {
  CompiledGraph bench("var n in [10, 31] ~ 12\ninput x: f32[n, 24]\noutput y = x + 1\n");
  CHECK(bench.of({""})[0].code.values == std::vector<int64_t>{12});
  for (const auto& [percent, value] : {std::pair(0, 10), {50, 20}, {100, 31}}) {
    CompileLimits limits;
    limits.variablesAt = percent;
    CHECK(bench.of({""}, limits)[0].code.values == std::vector<int64_t>{value});
    CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "", CpuMeasure::Clock::time_point::max(),
                       {.compile = limits});
    const std::vector<OptOp> baseline = optsOf(bench.kernel->choice);
    REQUIRE(measure.begin({baseline, toText(baseline), "-O1", 0, {}}));
    const Candidate plain{{}, "", "test", 0, {}};
    REQUIRE(measure.prepare({&plain, 1})[0].verdict.outcome == Outcome::Timed);
    CHECK(measure.time(plain, 0).outcome == Outcome::Timed);  // other values than at other sizes
  }
  CHECK(measuredValue({1, INT64_MAX}, 64, 100) == INT64_MAX);
}

TEST_CASE("A kernel is timed with data of the likely sizes where the greatest ones take too much") {
  CompiledGraph bench("var n in [1, 1000000000] ~ 100\ninput x: f32[n, 24]\noutput y = x + 1\n");
  CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "", CpuMeasure::Clock::time_point::max());
  const std::vector<OptOp> baseline = optsOf(bench.kernel->choice);
  REQUIRE(measure.begin({baseline, toText(baseline), "-O1", 0, {}}));
  const Candidate plain{{}, "", "test", 0, {}};
  REQUIRE(measure.prepare({&plain, 1})[0].verdict.outcome == Outcome::Timed);
  CHECK(measure.time(plain, 0).outcome == Outcome::Timed);
}

TEST_CASE("Code that was compiled ahead is found by text, and not compiled again") {
  CompiledGraph bench(kProduct);
  const std::vector<std::string> texts = {"", "vector(n1,8)", "upcast(n0,33) upcast(n1,12)"};
  const CodeStore store(bench.folder / "");
  std::vector<std::vector<OptOp>> lists;
  for (const std::string& text : texts) lists.push_back(parseOpts(text).value());
  CompileLimits limits;
  limits.mostInstructions = 500;
  const auto made = compileCandidates(*bench.kernel, lists, bench.options, limits, {}, store.libraries("hash", "one"));
  REQUIRE(store.add("hash", "one", texts, made));
  const auto known = store.of("hash");
  REQUIRE(known.size() == 3);
  CHECK(known.at("vector(n1,8)").code.hash == made[1].code.hash);
  CHECK(known.at(texts[2]).verdict.outcome == Outcome::TooLarge);
  CHECK(store.of("other").empty());
  const std::string fresh = bench.folder / "fresh";
  REQUIRE(std::system(("mkdir " + fresh).c_str()) == 0);
  CpuMeasure measure(*bench.kernel, bench.options, fresh, CpuMeasure::Clock::now() + std::chrono::hours(1));
  measure.use(known);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < texts.size(); ++i) {
    candidates.push_back({});
    candidates.back().opts = lists[i], candidates.back().text = texts[i];
  }
  const std::vector<Prepared> prepared = measure.prepare(candidates);
  CHECK(prepared[1].code == made[1].code.hash);
  CHECK(prepared[2].verdict.outcome == Outcome::TooLarge);
  CHECK(std::system(("test -z \"$(ls " + fresh + ")\"").c_str()) == 0);  // nothing was compiled
  // A list whose library is gone, or whose line is damaged, is compiled as if it were not there.
  writeText(bench.folder / "hash-two.code",
            "{\"opts\":\"a\",\"code\":\"{}\"}\n{\"opts\":\"c\",\"code\":\"[]\"}\n{\"opts\":\"b\",\"code\":7}\nx\n[]\n");
  CHECK(store.of("hash").size() == 3);
  REQUIRE(std::system(("rm " + std::string(bench.folder / "hash-one-*.so")).c_str()) == 0);
  CHECK(store.of("hash").size() == 1);
}

TEST_CASE("Candidates share what is done before opts") {
  CompiledGraph bench("input a: f32[24, 5]\noutput y = sum(reshape(transpose(a), shape=[4, 30]), axes=1)\n");
  REQUIRE(bench.kernel->unopted);
  CompiledKernel copy = copyOf(*bench.kernel, "copy");
  CHECK(toUopText(copy.ast) == toUopText(bench.kernel->unopted));
  std::vector<std::string> ran;
  CompileOptions options = bench.options;
  options.passes.timePasses = true;
  REQUIRE(lowerWith(copy, {}, options));
  for (const PassTime& pass : copy.log.times) ran.emplace_back(pass.pass);
  CHECK(std::ranges::find(ran, "symbolic") == ran.end());
  CHECK(std::ranges::find(ran, "expand") != ran.end());
}

TEST_CASE("A plan has the code that was measured") {
  const std::string softmax = "input x: f32[30, 50]\noutput y = softmax(x)\n";
  const std::pair<std::string, std::string> lists[] = {{kProduct, ""},
                                                       {kProduct, "vector(n1,8) upcast(n0,3)"},
                                                       {kProduct, "vector(n1,16) upcast(n0,11)"},
                                                       {softmax, ""}};
  for (const auto& [graph, text] : lists) {
    CompiledGraph bench(graph);
    const CandidateCode measured = bench.of({text})[0].code;
    CompileOptions options = bench.options;
    options.opts = {{bench.kernel->name, parseOpts(text).value()}};
    auto compiled = compile(bench.model, options);
    if (!compiled) FAIL(toText(compiled.error()));
    CHECK(codeHash((*compiled)->kernels[0]) == measured.hash);
  }
}
